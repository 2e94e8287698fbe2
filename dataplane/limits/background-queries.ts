/**
 * A header of queries that nobody waits for: those of the bridge's threads, such as a look for the cause of an incident. The embedded store lets queries
 * of users go first. OpenSearch names the value in its slow log.
 */
export const BACKGROUND_HEADER = 'x-opaque-id'
export const BACKGROUND = 'logpipeline-background'
