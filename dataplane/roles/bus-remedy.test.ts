import { expect } from 'chai'
import { describe, it } from 'mocha'
import { busRemedy } from './bus-remedy.ts'

/** As both clients said it of a real Kafka (2026-11-30). */
const SAID: Readonly<Record<string, readonly string[]>> = {
  'start it, or correct BUS_BROKERS': [
    'reaching Kafka: no broker of 127.0.0.1:1 answers (Connection to 127.0.0.1:1 failed.: connect ECONNREFUSED 127.0.0.1:1)',
    'reaching Kafka: Kafka has not answered within 4000 ms (getaddrinfo ENOTFOUND kafka.invalid)',
    'reaching Kafka: Kafka has not answered within 4000 ms',
  ],
  'BUS_USERNAME and BUS_PASSWORD must name a user of it that logs in by BUS_SASL_MECHANISM': [
    'reaching Kafka: Connection to b:9 failed.: SASL authentication failed.: Received response with error while executing API SaslAuthenticate(v2) (SASL authentication failed.)',
    'reaching Kafka: SASL PLAIN authentication failed: Authentication failed: Invalid username or password',
    'reaching Kafka: SASL SCRAM SHA512 authentication failed: Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-512',
  ],
  'this port may want another BUS_SASL_MECHANISM, none, or BUS_TLS': [
    'reaching Kafka: Connection to b:9 failed.: Cannot find a suitable SASL mechanism.: Connection closed',
    'reaching Kafka: ILLEGAL_SASL_STATE',
  ],
  'this port may want BUS_TLS or BUS_SASL_MECHANISM, or be no Kafka': [
    'reaching Kafka: no broker of b:9 answers (Connection closed)',
    'reaching Kafka: Closed connection',
  ],
  'this port may speak no TLS: leave BUS_TLS out, or name one that does': [
    'reaching Kafka: Connection to b:9 failed.: TLS handshake failed. Please verify the broker supports TLS.: Client network socket disconnected before secure TLS connection was established',
    'reaching Kafka: Kafka has not answered within 4000 ms (Client network socket disconnected before secure TLS connection was established)',
  ],
  'BUS_CA_FILE must hold the authority that signed its certificate': [
    'reaching Kafka: no broker of b:9 answers (Connection to b:9 failed.: self-signed certificate in certificate chain)',
    'reaching Kafka: Kafka has not answered within 4000 ms (unable to verify the first certificate)',
  ],
  'BUS_BROKERS must have the names of its certificate': [
    "reaching Kafka: no broker of b:9 answers (Hostname/IP does not match certificate's altnames: Host: b. is not in the cert's altnames: DNS:c)",
  ],
}

describe('what is told to mend where Kafka cannot be used', () => {
  for (const [remedy, problems] of Object.entries(SAID))
    for (const problem of problems) it(`${problem.slice(16, 100)}: ${remedy}`, () => expect(busRemedy(problem)).to.equal(remedy))
})
