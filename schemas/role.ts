import { z } from 'zod'

/**
 * What a person or a service key may do for its account. `owner`: everything, people and sign-in included. `operator`: everything else.
 * `approver`: reads, and decides what waits for a person. `seller`: its own offers and nothing else. `auditor`: reads.
 */
export const ROLES = ['owner', 'operator', 'approver', 'seller', 'auditor'] as const
export const RoleName = z
  .enum(ROLES)
  .describe(
    '`owner`: everything, people too; `operator`: all but people; `approver`: reads and decides what waits; `seller`: its own offers; `auditor`: reads',
  )
export type Role = z.infer<typeof RoleName>
