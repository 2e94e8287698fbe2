/** The place of a document in an index, as a number below 2³² − 1: the ordinal of its segment, and its number there. */
const DOC_BITS = 16
const DOC_MASK = (1 << DOC_BITS) - 1

/** Segments of an index. */
export const MAX_ORDINALS = 65_535

export const placeOf = (ordinal: number, doc: number) => ordinal * (1 << DOC_BITS) + doc
export const docOf = (place: number) => place & DOC_MASK
export const ordinalOf = (place: number) => place >>> DOC_BITS
