/** The version that clients are told; they choose their dialect by it. */
export const OPENSEARCH_VERSION = '3.5.0'
export const CREATED_VERSION = '137277827'
export const CLUSTER_NAME = 'logpipeline'
