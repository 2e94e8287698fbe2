import type { Target } from '../../domain/tickets/target.ts'
import { basicAuthorization, basicCredentials } from '../../http/basic-authorization.ts'
import type { HttpContract } from './http-platform.ts'
import { field } from './target-field.ts'

/** The part of a contract that logs in with Basic authentication, by two fields of the target. */
export function basicLogin(userField: string, secretField: string): Pick<HttpContract, 'headers' | 'secretForms'> {
  const login = (target: Target) => [field(target, userField) ?? '', field(target, secretField) ?? ''] as const
  return {
    headers: target => ({ authorization: basicAuthorization(...login(target)) }),
    secretForms: target => [basicCredentials(...login(target))],
  }
}
