/** The settings that may be wrong, by how the address begins and what the client of the search store says. */
const REMEDIES: readonly (readonly [scheme: 'http:' | 'https:', problem: RegExp, remedy: string])[] = [
  ['http:', /socket hang up|ECONNRESET/, 'it may speak TLS: SEARCH_ENDPOINT begins with https:// then'],
  ['https:', /wrong version number|packet length too long/, 'it may speak no TLS: SEARCH_ENDPOINT begins with http:// then'],
  ['https:', /altnames/i, 'SEARCH_ENDPOINT must have a name of its certificate'],
  [
    'https:',
    /self.signed certificate|unable to (verify|get)|certificate has expired/i,
    'SEARCH_CA_FILE must hold the authority that signed its certificate',
  ],
]

/** How to mend that nobody answers at `SEARCH_ENDPOINT`, where its words tell. */
export function searchRemedy(problem: string, endpoint: string): string | undefined {
  return REMEDIES.find(([scheme, pattern]) => endpoint.startsWith(scheme) && pattern.test(problem))?.[2]
}
