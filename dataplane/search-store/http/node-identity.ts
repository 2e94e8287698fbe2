/** The node as clients are told of it. They choose their dialect by the version. */
export const OPENSEARCH_VERSION = '3.5.0'
export const CREATED_VERSION = '137277827'
export const CLUSTER_NAME = 'logpipeline'
export const NODE_ID = 'embedded'
export const NODE_ADDRESS = '127.0.0.1'
