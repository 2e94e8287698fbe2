/** An alert of Opsgenie, and the bodies of requests about it with their limits. */
import { z } from 'zod'

const PRIORITIES = ['P1', 'P2', 'P3', 'P4', 'P5'] as const
type Priority = (typeof PRIORITIES)[number]

export interface Alert {
  readonly id: string
  readonly tinyId: string
  readonly alias: string
  readonly createdAt: string
  status: 'open' | 'closed'
  acknowledged: boolean
  /** How often the alert was created while it was open. */
  count: number
  message: string
  priority: Priority
  description: string
  tags: readonly string[]
  details: Readonly<Record<string, string>>
  entity: string
  source: string
  readonly log: { readonly at: string; readonly text: string; readonly note?: string }[]
}

const MAX_DETAILS = 8_000

const limited = (max: number) => z.string().refine(text => [...text].length <= max, `can not be longer than ${max} characters`)
const COMMON = { user: limited(100).optional(), note: limited(25_000).optional(), source: limited(100).optional() }
export const ALERT = z.object({
  message: limited(130).min(1, 'can not be empty'),
  alias: limited(512).optional(),
  description: limited(15_000).optional(),
  tags: z.array(limited(50)).max(20, 'can not have more than 20 items').optional(),
  details: z
    .record(z.string(), z.string())
    .refine(
      details => Object.entries(details).flat().join('').length <= MAX_DETAILS,
      `can not be longer than ${MAX_DETAILS} characters in total`,
    )
    .optional(),
  entity: limited(512).optional(),
  responders: z
    .array(z.object({ type: z.enum(['team', 'user', 'escalation', 'schedule']) }))
    .max(50)
    .optional(),
  visibleTo: z
    .array(z.object({ type: z.enum(['team', 'user']) }))
    .max(50)
    .optional(),
  actions: z.array(limited(50)).max(10).optional(),
  priority: z.enum(PRIORITIES).optional(),
  ...COMMON,
})
export const ACTION = z.object(COMMON)
export type ActionBody = z.output<typeof ACTION>
export const NOTE = z.object({ ...COMMON, note: limited(25_000).min(1, 'can not be empty') })
export const ESCALATION = z.object({
  ...COMMON,
  escalation: z.union([z.object({ id: z.string().min(1) }), z.object({ name: z.string().min(1) })]),
})
export const PRIORITY = z.object({ ...COMMON, priority: z.enum(PRIORITIES) })
export const MESSAGE = z.object({ ...COMMON, message: limited(130).min(1) })
export const DESCRIPTION = z.object({ ...COMMON, description: limited(15_000) })
export const TAGS = z.object({ ...COMMON, tags: z.array(limited(50)).max(20) })
