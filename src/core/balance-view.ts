// What an account has left is its operators' business: the holders of capabilities and permits see it where a capability says so.
import { isObject } from '../lib/json.ts'
import type { Caller } from './caller.ts'
import { GatewayError } from './errors.ts'

/** Whether this caller may be told the balance of the account that pays. */
export const seesBalance = (caller: Caller | undefined): boolean =>
  caller?.kind === 'operator' || (caller?.kind === 'agent' && caller.capability.showsBalance)

/** The output with `credits.balance` null. Bytes that were paid with x402 name no balance, and are left as they are. */
export function withoutBalance(output: unknown): unknown {
  if (!isObject(output) || !isObject(output['credits']) || !('balance' in output['credits'])) return output
  return { ...output, credits: { ...output['credits'], balance: null } }
}

/** The refusal without what is left, in its members and in its words. */
export function refusalWithoutBalance(error: GatewayError): GatewayError {
  const { credits, balance, ...extras } = error.extras
  if (credits === undefined && balance === undefined) return error
  const words =
    typeof balance === 'number'
      ? error.message.replace(` and the account has ${balance}.`, ', more than the account has left.')
      : error.message
  return new GatewayError(error.code, words, {
    cause: error.cause,
    ...(error.reason === undefined ? {} : { reason: error.reason }),
    extras: { ...extras, ...(credits && { credits: { ...credits, balance: null } }) },
  })
}
