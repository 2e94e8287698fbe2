/** Settings of the brokers, wherever they run. */

export interface BrokerLayout {
  readonly id: number
  /** How many brokers there are. */
  readonly brokers: number
  /** `NAME://host:port`: what it listens on, without the controller's. */
  readonly listeners: readonly string[]
  /** The same as others reach them. */
  readonly advertised: readonly string[]
  /** The listener among them that brokers use with each other. */
  readonly interBroker: string
  readonly controller: string
  /** `id@host:port` of every broker's controller. */
  readonly voters: readonly string[]
  readonly dataDir: string
  /** PEM; the SASL and TLS listeners need it. */
  readonly keystore?: string
  readonly user: { readonly username: string; readonly password: string }
}

const SCRAM_MECHANISMS = ['SCRAM-SHA-256', 'SCRAM-SHA-512'] as const
const PROTOCOLS = {
  CONTROLLER: 'PLAINTEXT',
  PLAINTEXT: 'PLAINTEXT',
  BROKER: 'PLAINTEXT',
  SASL_SSL: 'SASL_SSL',
  SASL_PLAINTEXT: 'SASL_PLAINTEXT',
}

/** Arguments with which its storage is formatted, besides those that name it. */
export function scramUsers({ keystore, user: { username, password } }: BrokerLayout): readonly string[] {
  if (keystore === undefined) return []
  return SCRAM_MECHANISMS.flatMap(mechanism => ['--add-scram', `${mechanism}=[name=${username},password=${password}]`])
}

/** `server.properties`. */
export function brokerSettings(layout: BrokerLayout): string {
  const { id, brokers: replicas, listeners, advertised, interBroker, controller, voters, dataDir } = layout
  const inSync = replicas === 1 ? 1 : 2
  return `process.roles=broker,controller
node.id=${id}
controller.quorum.voters=${voters.join(',')}
listeners=${[...listeners, controller].join(',')}
advertised.listeners=${advertised.join(',')}
inter.broker.listener.name=${interBroker}
controller.listener.names=CONTROLLER
listener.security.protocol.map=${Object.entries(PROTOCOLS)
    .map(([name, protocol]) => `${name}:${protocol}`)
    .join(',')}
log.dirs=${dataDir}
default.replication.factor=${replicas}
min.insync.replicas=${inSync}
offsets.topic.replication.factor=${replicas}
offsets.topic.num.partitions=5
transaction.state.log.replication.factor=${replicas}
transaction.state.log.min.isr=${inSync}
transaction.state.log.num.partitions=5
share.coordinator.state.topic.replication.factor=${replicas}
share.coordinator.state.topic.min.isr=${inSync}
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=6000
log.segment.bytes=67108864
${secureSettings(layout)}`
}

function secureSettings({ keystore, user: { username, password } }: BrokerLayout): string {
  if (keystore === undefined) return ''
  const plain = `org.apache.kafka.common.security.plain.PlainLoginModule required user_${username}="${password}";`
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;'
  return ['sasl_ssl', 'sasl_plaintext']
    .flatMap(listener => [
      `listener.name.${listener}.sasl.enabled.mechanisms=PLAIN,${SCRAM_MECHANISMS.join(',')}`,
      `listener.name.${listener}.plain.sasl.jaas.config=${plain}`,
      ...SCRAM_MECHANISMS.map(mechanism => `listener.name.${listener}.${mechanism.toLowerCase()}.sasl.jaas.config=${scram}`),
    ])
    .concat('ssl.keystore.type=PEM', `ssl.keystore.location=${keystore}`)
    .join('\n')
}

export const BROKER_LOG4J = `rootLogger.level=WARN
rootLogger.appenderRef.c.ref=C
appender.c.type=Console
appender.c.name=C
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=[%d] %p %m (%c)%n
logger.s.name=kafka.server.KafkaRaftServer
logger.s.level=INFO
`
