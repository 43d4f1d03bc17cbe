// Lacks -> reasons: what a payment has to say by signed-members.ts, in the words of the policy.
import type { Lack } from '../signed-members.ts'
import type { Rule } from './model.ts'
import { reason, type Reason } from './reasons.ts'

/** What lacks a member that its kind demands is denied: a reader who overlooks that pays for nothing, or twice. */
export const judgeLacks: Rule = ({ lacks }) => lacks.map(toReason)

function toReason({ kind, member, is, at }: Lack): Reason {
  switch (is) {
    case 'missing':
      return reason('SIGNED_MEMBER_MISSING', at, {
        message: `A payment of kind ${kind} needs ${member}, and there is none.`,
      })
    case 'malformed':
      return reason('SIGNED_MEMBER_MALFORMED', at, {
        message: `${member} of a payment of kind ${kind} cannot be what it says it is.`,
      })
    case 'placeholder':
      return reason('SIGNED_MEMBER_MISSING', at, {
        severity: 'review',
        message: `${member} is an example's ellipsis: put the signature there before it is sent.`,
      })
  }
}
