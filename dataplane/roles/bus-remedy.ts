/** The settings that may be wrong, by what a client of Kafka says; the first that fits. */
const REMEDIES: readonly (readonly [problem: RegExp, remedy: string])[] = [
  [/altnames/i, 'BUS_BROKERS must have the names of its certificate'],
  [
    /self.signed certificate|unable to (verify|get)|certificate has expired/i,
    'BUS_CA_FILE must hold the authority that signed its certificate',
  ],
  [
    /TLS handshake failed|secure TLS connection|wrong version number/i,
    'this port may speak no TLS: leave BUS_TLS out, or name one that does',
  ],
  [/authentication failed|invalid credentials/i, 'BUS_USERNAME and BUS_PASSWORD must name a user of it that logs in by BUS_SASL_MECHANISM'],
  [/SASL/i, 'this port may want another BUS_SASL_MECHANISM, none, or BUS_TLS'],
  [/connection closed|closed connection/i, 'this port may want BUS_TLS or BUS_SASL_MECHANISM, or be no Kafka'],
]

/** How to mend that the Kafka of `BUS_BROKERS` cannot be used. */
export function busRemedy(problem: string): string {
  return REMEDIES.find(([pattern]) => pattern.test(problem))?.[1] ?? 'start it, or correct BUS_BROKERS'
}
