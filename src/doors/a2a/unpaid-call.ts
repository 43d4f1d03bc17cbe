// The call that a task keeps while it waits for its payment, and what a follow-up message makes of it.
import { isDeepStrictEqual } from 'node:util'
import { GatewayError } from '../../core/errors.ts'
import { tokenArgument } from '../../core/token-argument.ts'
import { isObject } from '../../lib/json.ts'
import { redactTokens, redactValue } from './redact.ts'
import type { Choice, Skill, SkillTable } from './skills.ts'
import type { Json } from './wire.ts'

export interface UnpaidCall {
  readonly skill: string
  /** Redacted like everything that is stored. */
  readonly input: unknown
  /** Redaction took something out: the buyer must send the input again. */
  readonly isRedacted: boolean
  readonly asText: boolean
}

/** The call that waits for its payment, as it may be stored: `isRedacted` says that the input has to come again. */
export function unpaidCall(skill: Skill, input: unknown, asText: boolean): UnpaidCall {
  const kept = redactInput(skill, input)
  return { skill: skill.id, input: kept, isRedacted: !isDeepStrictEqual(kept, input), asText }
}

/**
 * The call that a follow-up to a waiting task continues; one that is repeated must be the same call.
 * @throws {GatewayError} input_conflict, input_missing_field
 */
export function resumeCall(table: SkillTable, unpaid: UnpaidCall, choice: Choice): Choice {
  const skill = table.find(unpaid.skill)
  if (!skill) throw new GatewayError('tool_not_found', 'This skill is not offered any more.')
  if (choice.kind === 'none' || isEmpty(choice.input)) {
    if (choice.kind !== 'none' && choice.skill.id !== skill.id) throw otherCall(skill)
    if (unpaid.isRedacted)
      throw new GatewayError(
        'input_missing_field',
        'Send skill and input again with the payment: the input holds secret or personal values, which are not kept.',
      )
    return { kind: 'skill', skill, input: unpaid.input }
  }
  if (choice.skill.id !== skill.id || !isDeepStrictEqual(redactInput(skill, choice.input), unpaid.input))
    throw otherCall(skill)
  return { kind: 'skill', skill, input: choice.input }
}

const otherCall = (skill: Skill) =>
  new GatewayError(
    'input_conflict',
    `This task waits for the payment of ${skill.id} with another input. Leave skill and input out to pay for it, or send a message without taskId to ask for something else.`,
  )

/** `capability` names a job where it is not the caller's token, and may be kept. */
function redactInput({ entry }: Skill, input: unknown): unknown {
  if (
    !isObject(input) ||
    tokenArgument(entry.tool) === 'capability' ||
    typeof input['capability'] !== 'string'
  )
    return redactValue(input)
  return { ...(redactValue(input) as Json), capability: redactTokens(input['capability']) }
}

const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0
