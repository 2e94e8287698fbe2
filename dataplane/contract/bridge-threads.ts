/** The bridge's threads, each a consumer group of its own (Spec: Components). */
export const BRIDGE_THREADS = ['etl', 'anomaly', 'indexer', 'lifecycle'] as const
export type BridgeThread = (typeof BRIDGE_THREADS)[number]
