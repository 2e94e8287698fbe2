/** Codes of Node for connections that did not come about or ended, in words. */
export const CONNECTION_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ECONNREFUSED: 'the connection is refused',
    ECONNRESET: 'the connection was reset',
    ETIMEDOUT: 'the connection timed out',
    EHOSTUNREACH: 'the host cannot be reached',
    ENETUNREACH: 'the network cannot be reached',
  }),
)
