/** Both ways to allow plain http and private addresses: a message of one pod is also read in the condition of a TicketingRoute. */
export const ALLOWED_BY = 'ALLOW_PRIVATE_TARGETS=true (in a LogPipeline: spec.ticketing.allowPrivateTargets)'
