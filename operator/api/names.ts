/** Names in the objects of the operator that others rely on (Decisions 1). */

export const API_GROUP = 'logpipeline.dev'
export const API_VERSION = 'v1alpha1'
export const API_GROUP_VERSION = `${API_GROUP}/${API_VERSION}`
export const CATEGORY = 'observability'

/** On pods: hash over every input, so that a rotated secret rolls them once. */
export const INPUTS_HASH_ANNOTATION = `${API_GROUP}/inputs-hash`
/** `"true"` does what `spec.paused` does. */
export const PAUSED_ANNOTATION = `${API_GROUP}/paused`

export const PRODUCT = 'logpipeline'

/** The longest name made from a pipeline's is `<name>-stream-score`, which has to be a DNS label of at most 63 characters. */
export const MAX_PIPELINE_NAME = 50
