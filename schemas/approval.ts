import { z } from 'zod'

/** Who has to approve a permit, beyond that somebody does. A mandate may say so, and a credential for all permits on it. */
export const ApprovalRule = z
  .strictObject({
    by: z
      .enum(['anyone', 'another'])
      .default('anyone')
      .describe(
        '`another`: a person who signed in and did not prepare it, neither themselves nor with a key or an assistant of theirs',
      ),
    people: z.int().min(1).max(2).default(1).describe('Different people who have to approve it'),
    fresh_sign_in: z
      .boolean()
      .default(false)
      .describe('Each shows with their passkey, at most five minutes before, that it is them'),
  })
  .describe('Who has to approve')
export type ApprovalRule = z.infer<typeof ApprovalRule>

/** The rule of what only says that somebody approves: a service key may. */
export const PLAIN_RULE: ApprovalRule = { by: 'anyone', people: 1, fresh_sign_in: false }

/** Whether only people who signed in may approve: nobody can tell in whose hand a service key is. */
export const needsPeople = ({ by, people, fresh_sign_in }: ApprovalRule): boolean =>
  by === 'another' || people > 1 || fresh_sign_in

/** Whether whatever satisfies `rule` satisfies the other as well. */
export const isAsStrict = (rule: ApprovalRule, as: ApprovalRule): boolean => {
  const { by, people, fresh_sign_in } = strictest(rule, as)
  return by === rule.by && people === rule.people && fresh_sign_in === rule.fresh_sign_in
}

/** What satisfies both. */
export const strictest = (one: ApprovalRule, other: ApprovalRule): ApprovalRule => ({
  by: one.by === 'another' ? one.by : other.by,
  people: Math.max(one.people, other.people),
  fresh_sign_in: one.fresh_sign_in || other.fresh_sign_in,
})
