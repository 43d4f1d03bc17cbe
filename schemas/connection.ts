import { z } from 'zod'
import { BudgetState, budgetWishes } from './budget.ts'
import { scopeFields } from './egress.ts'
import { Timestamp } from './http.ts'

export const connectionId = z.string().min(1).max(64).describe('con_…')

/** A credential that an assistant may use, and how far. */
const covered = {
  hosts: scopeFields.hosts,
  path_prefixes: scopeFields.path_prefixes,
  methods: scopeFields.methods,
}

/** What a person allowed an assistant, and what became of it. */
export const ConnectionRecord = z.strictObject({
  connection_id: z.string(),
  person_id: z.string().describe('Who allowed it'),
  client: z.strictObject({
    id: z.string(),
    name: z.string().describe('As the client calls itself'),
    host: z
      .string()
      .nullable()
      .describe('The host that the client proved to be of; null: anybody may call themselves so'),
    redirect_host: z.string().describe('Where its sign-in was sent back to'),
  }),
  credentials: z.array(z.strictObject({ credential_id: z.string(), capability_id: z.string(), ...covered })),
  capability_id: z
    .string()
    .describe('The capability at its root: limits and uses of all its credentials together'),
  may_pay: z
    .boolean()
    .describe('Whether it may call tools that cost money; requests with a credential it may in any case'),
  may_operate: z
    .boolean()
    .describe('Whether it may call tools of operators, as far as the role of its person goes'),
  shows_balance: z.boolean().describe("Whether it may see the account's balance"),
  max_uses: z.int().min(1).nullable(),
  uses: z.int().min(0),
  budgets: z.array(BudgetState),
  created_at: Timestamp,
  changed_at: Timestamp,
  used_at: Timestamp.nullable().describe('Last use, to the minute'),
  expires_at: Timestamp,
  ended_at: Timestamp.nullable(),
  suspended: z
    .boolean()
    .describe(
      'Every call of it is refused meanwhile: its person was removed, or is no longer owner or operator',
    ),
})
export type ConnectionRecord = z.infer<typeof ConnectionRecord>

/** What an assistant may do from now on: all of it, not what changes. */
export const ConnectionTermsInput = z.strictObject({
  credentials: z
    .array(
      z.strictObject({
        credential_id: z.string().min(1).max(64),
        hosts: scopeFields.hosts.optional(),
        path_prefixes: scopeFields.path_prefixes.optional(),
        methods: scopeFields.methods.optional(),
      }),
    )
    .max(32)
    .describe('What is left out of one is as the credential has it'),
  budgets: budgetWishes.default([]),
  max_uses: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .default(null)
    .describe('Requests with a credential in all'),
  expires_at: z.iso.datetime().describe('At most 400 days from now'),
  may_pay: z.boolean().default(false),
  may_operate: z.boolean().default(false),
  shows_balance: z.boolean().default(false),
})
