/** Which of the agents on one store sends to a target of a tenant: each target has one, so that its limits hold for all of them (Decisions 6). */

/**
 * The agent with the highest weight for the lane. Where an agent comes or goes, lanes move to it or from it, and from none to another.
 * Undefined without agents.
 */
export function ownerOf(lane: string, agents: Iterable<string>): string | undefined {
  let owner: string | undefined
  let highest = -1
  for (const agent of agents) {
    const weight = weightOf(`${agent}\n${lane}`)
    if (weight < highest || (weight === highest && owner !== undefined && agent > owner)) continue
    owner = agent
    highest = weight
  }
  return owner
}

/** 32 bits that differ for texts that hardly do: FNV-1a with the end of murmur3, which spreads the last characters. */
function weightOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
