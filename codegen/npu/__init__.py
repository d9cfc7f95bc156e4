"""Planning for engines that compute from a scratchpad filled by DMA; docs/npu.md explains it."""
