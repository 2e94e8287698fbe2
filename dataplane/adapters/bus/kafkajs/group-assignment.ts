import kafkajs, { type Assigner, type PartitionAssigner } from 'kafkajs'

/** Also the protocol's name: all members of a group must know it. */
const NAME = 'logpipeline-round-robin'
const VERSION = 1
const STANDS_BY = Buffer.from('stands-by')

/** The library's round robin, in which a member that stands by gets partitions only while every member does. */
export function createAssigner(standsBy: boolean): PartitionAssigner {
  return config => {
    const roundRobin = kafkajs.PartitionAssigners.roundRobin(config)
    const assign: Assigner['assign'] = async ({ members, topics }) => {
      const isStandingBy = ({ memberMetadata }: (typeof members)[number]) =>
        kafkajs.AssignerProtocol.MemberMetadata.decode(memberMetadata)?.userData.equals(STANDS_BY) ?? false
      const active = members.filter(member => !isStandingBy(member))
      const assigned = await roundRobin.assign({ members: active.length > 0 ? active : members, topics })
      const without = members.filter(({ memberId }) => !assigned.some(other => other.memberId === memberId))
      const none = kafkajs.AssignerProtocol.MemberAssignment.encode({ version: VERSION, assignment: {}, userData: Buffer.alloc(0) })
      return [...assigned, ...without.map(({ memberId }) => ({ memberId, memberAssignment: none }))]
    }
    return {
      name: NAME,
      version: VERSION,
      assign,
      protocol({ topics }) {
        const userData = standsBy ? STANDS_BY : Buffer.alloc(0)
        return { name: NAME, metadata: kafkajs.AssignerProtocol.MemberMetadata.encode({ version: VERSION, topics, userData }) }
      },
    }
  }
}
