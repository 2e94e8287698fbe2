/** `spec.bus`: the Kafka of a distributed pipeline. */
import { z } from 'zod'
import { SASL_MECHANISMS, type SaslMechanism } from '../../dataplane/contract/env.ts'
import { credentials, secretKey } from './credentials.ts'
import { count, dataKey, described, formatted, objectName, PORT_PATTERN } from './schema.ts'

const ADDRESS = formatted('Host and port, such as kafka-0:9092.', {
  maxLength: 262,
  pattern: new RegExp(`^([A-Za-z0-9._-]+|[[][0-9A-Fa-f:.]+[\\]]):${PORT_PATTERN}$`),
  expected: 'a host and a port, such as kafka-0:9092',
})

const STRIMZI = z.object({
  cluster: objectName('Name of the Kafka resource, in the same namespace.', 63),
  listener: described(
    z
      .string()
      .max(25)
      .regex(/^[a-z0-9]{1,25}$/),
    'Name of the listener; its address and certificate are taken from the status of the Kafka resource. The only one when not given.',
  ).optional(),
})

const TLS = z.object({
  caSecret: secretKey('Authority that signed the certificates of the brokers; without it those that Node knows.', 'ca.crt').optional(),
  clientSecret: described(
    z.object({
      name: objectName('Name of the Secret, in the same namespace.'),
      certificateKey: dataKey('Key of the certificate; tls.crt when not given.').optional(),
      privateKeyKey: dataKey('Key of the private key; tls.key when not given.').optional(),
    }),
    'Certificate that is shown to the brokers (PEM).',
  ).optional(),
})

const CAPITALS = SASL_MECHANISMS.map(name => name.toUpperCase() as Uppercase<SaslMechanism>)

const SASL = z.object({
  mechanism: described(
    z.enum([...SASL_MECHANISMS, ...CAPITALS]),
    'How user name and password are shown; scram-sha-512 when not given. In capitals, as Kafka writes it, it is the same.',
  ).optional(),
  username: described(z.string().min(1).max(256), 'User name, where the Secret holds none (as those of Strimzi).').optional(),
  credentials: credentials('User name and password: BUS_USERNAME (or username) and BUS_PASSWORD (or password).'),
})

export const BUS = described(
  z.object({
    bootstrapServers: described(z.array(ADDRESS).min(1).max(32), 'Addresses of Kafka brokers.').optional(),
    strimzi: described(STRIMZI, 'A Kafka cluster of the Strimzi operator.').optional(),
    topics: described(
      z.enum(['Managed', 'Existing']).default('Managed'),
      'Managed: topics are created and kept at the partitions and the retention of the specification, as KafkaTopic resources with strimzi, else by the roles, which look at each start. Existing: they are there, and stay as they are.',
    ),
    topicPrefix: described(
      z
        .string()
        .max(200)
        .regex(/^[A-Za-z0-9._-]*$/),
      'First part of the names of the topics, so that pipelines can share a Kafka; its namespace and name, each followed by a dot, when not given, and empty for none. A pipeline keeps what it began with, also one from before there was a default: status.topicPrefix tells it.',
    ).optional(),
    replicationFactor: count(
      1,
      32,
      "Copies of each partition, for topics that are created; the brokers' own default when not given.",
    ).optional(),
    tls: described(TLS, 'Speaks TLS with the brokers.').optional(),
    sasl: described(SASL, 'Authenticates at the brokers.').optional(),
  }),
  'The message bus, of mode Distributed.',
  {
    rule: 'has(self.bootstrapServers) != has(self.strimzi)',
    message: 'expected exactly one of bootstrapServers and strimzi',
  },
)

export function saslMechanism({ mechanism = 'scram-sha-512' }: Pick<z.output<typeof SASL>, 'mechanism'>): SaslMechanism {
  return mechanism.toLowerCase() as SaslMechanism
}
