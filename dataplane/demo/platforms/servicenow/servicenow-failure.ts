import type { StubAnswer } from '../stub-platform.ts'

/** An error as ServiceNow tells it. */
export function failure(status: number, message: string, detail: string): StubAnswer {
  return { status, body: { error: { message, detail }, status: 'failure' } }
}

export const NOT_AUTHENTICATED = failure(401, 'User Not Authenticated', 'Required to provide Auth information')
