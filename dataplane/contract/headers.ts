/** Header names that services share. */
/** Names the tenant that a request speaks for; the gateway sets it (Decisions 7). */
export const TENANT_HEADER = 'x-service-tenant-id'
/** Bytes of a body of logs that the gateway or the dashboard put into it for the tenant, where it is larger than `MAX_REQUEST_BYTES` with them. */
export const ADDED_BYTES_HEADER = 'x-service-added-bytes'
export const NEXT_CURSOR_HEADER = 'x-next-cursor'
/** `2/7`: 2 of 7 shards of the search store gave no answer, so that a list lacks what they hold; `0/7`: the store gave up before its end. */
export const MISSING_SHARDS_HEADER = 'x-missing-shards'
/** Holds the API key on the cloud address (Spec: Authentication). */
export const API_KEY_HEADER = 'x-service-api-key'
