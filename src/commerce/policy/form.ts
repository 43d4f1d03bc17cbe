// These rules report what cannot be read, contradicts itself or is unknown, and what each protocol finds wrong in itself.
import { isOversize } from '../message.ts'
import type { Message, Place } from '../ports.ts'
import type { Rule } from './model.ts'
import { reason, type Reason } from './reasons.ts'

/** Bodies, headers and layers that cannot be read, and messages of no protocol. */
export const judgeForm: Rule = ({ message, detection, http }) => {
  const found: Reason[] = []
  const { body } = message
  if (body.kind === 'unreadable')
    found.push(
      body.why === 'oversize'
        ? reason('OVERSIZE', '/body')
        : reason('MALFORMED', '/body', {
            message:
              body.why === 'too_deep'
                ? 'The body is nested too deep to be read.'
                : 'The body is no valid JSON.',
          }),
    )
  for (const field of message.headers) if (isOversize(field)) found.push(reason('OVERSIZE', field.at))
  for (const layer of detection.layers)
    if (layer.isUndecodable)
      found.push(
        reason('MALFORMED', layer.evidence[0]?.at ?? '', {
          message: `What ${layer.name} carries here does not decode.`,
        }),
      )
  for (const at of http.unreadable)
    found.push(
      isShortened(message, at)
        ? reason('MALFORMED', at, { severity: 'review', message: "The header is an example's, shortened." })
        : reason('MALFORMED', at, { message: 'The header cannot be parsed.' }),
    )
  if (message.target.url === undefined)
    found.push(reason('MALFORMED', '/target', { message: 'The target is no absolute URL.' }))
  if (body.kind === 'json' && Array.isArray(body.value) && body.value.length > 1)
    found.push(
      reason('POLICY_INPUT_MISSING', '/body', {
        message: 'The body is a list of messages: only the first of a kind is judged. Send them one by one.',
      }),
    )
  if (detection.protocol === 'unknown') found.push(reason('UNKNOWN_PROTOCOL', ''))
  return found
}

/** Specifications leave out parts of what is long. */
const isShortened = ({ headers }: Message, at: Place): boolean =>
  headers.some((field) => field.at === at && / (?:\.{3}|…)/.test(field.value))

/** Contradictions that detection found. */
export const judgeConflicts: Rule = ({ detection }) =>
  detection.conflicts.map(({ code, at, message }) => reason(code, at, { message }))

/** Each protocol's own rules. */
export const judgeProtocols: Rule = ({ spoken }) =>
  spoken.flatMap((one) => one.protocol.policy.judge?.(one) ?? [])
