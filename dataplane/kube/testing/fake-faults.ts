/** How the fake API server misbehaves: what goes wrong with which requests, and how often. */
import type { IncomingMessage } from 'node:http'
import type { Asked } from '../api-failure.ts'

export type Fault =
  /** Answers with this status. */
  | { readonly kind: 'status'; readonly code: number; readonly reason: string; readonly message?: string; readonly retryAfter?: number }
  /** Takes the request and never answers. */
  | { readonly kind: 'silence' }
  /** Cuts the connection instead of answering. */
  | { readonly kind: 'reset' }
  /** Sends half the answer, then closes as if that had been all of it. */
  | { readonly kind: 'truncate' }
  /** Answers once this resolves. */
  | { readonly kind: 'slow'; readonly until: Promise<void> }

export interface FakeRequest extends Asked {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
}

export type FaultMatch = Partial<Pick<Asked, 'verb' | 'resource' | 'namespace' | 'name'>>

interface Rule {
  readonly match: FaultMatch
  readonly fault: Fault
  left: number
}

export interface FaultRules {
  add(match: FaultMatch, fault: Fault, times: number): () => void
  /** The fault of this request, counted as used. */
  take(request: FakeRequest): Fault | undefined
}

export function createFaultRules(): FaultRules {
  const rules: Rule[] = []
  return {
    add(match, fault, times) {
      const rule = { match, fault, left: times }
      rules.push(rule)
      return () => {
        rule.left = 0
      }
    },
    take(request) {
      const rule = rules.find(({ match, left }) => left > 0 && matches(match, request))
      if (rule === undefined) return undefined
      rule.left -= 1
      return rule.fault
    },
  }
}

export function matches(match: FaultMatch, request: Asked): boolean {
  return (Object.keys(match) as (keyof FaultMatch)[]).every(key => match[key] === request[key])
}
