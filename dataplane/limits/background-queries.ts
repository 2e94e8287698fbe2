/**
 * A header of queries that no user waits for: those of the bridge's threads, and the search for the cause of an incident. The embedded store lets
 * queries of users go first. OpenSearch names the value in its slow log.
 */
export const BACKGROUND_HEADER = 'x-opaque-id'
export const BACKGROUND = 'logpipeline-background'
export const IN_BACKGROUND: Readonly<Record<string, string>> = { [BACKGROUND_HEADER]: BACKGROUND }
