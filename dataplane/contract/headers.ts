/** Header names that services share. */
/** Names the tenant that a request speaks for; the gateway sets it (Decisions 7). */
export const TENANT_HEADER = 'x-service-tenant-id'
export const NEXT_CURSOR_HEADER = 'x-next-cursor'
/** Holds the API key on the cloud address (Spec: Authentication). */
export const API_KEY_HEADER = 'x-service-api-key'
