package workspace

// openNonblock is for pipes in the tree; Windows has none there.
const openNonblock = 0
