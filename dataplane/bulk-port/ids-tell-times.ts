/**
 * A header of bulks over HTTP: no other document ever has the id of one of theirs at another `timestamp`, the first member of each document. The embedded store
 * then looks for the ids among documents of their times alone. OpenSearch passes over the header.
 */
export const IDS_TELL_TIMES_HEADER = 'x-logpipeline-ids-tell-times'
export const IDS_TELL_TIMES = 'true'
