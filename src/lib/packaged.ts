/** Whether this runs from the published package. Its build puts `true` here: what it says to install differs there. */
export const IS_PACKAGED: boolean = false
