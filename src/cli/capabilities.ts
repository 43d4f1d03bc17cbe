// `capabilities`: what an agent holds in place of a secret.
import type { Command } from 'commander'
import { egressCapabilitiesIssue } from '../../tools/egress-capabilities-issue.ts'
import { egressCapabilitiesList } from '../../tools/egress-capabilities-list.ts'
import { egressCapabilitiesNarrow } from '../../tools/egress-capabilities-narrow.ts'
import { egressCapabilitiesRevoke } from '../../tools/egress-capabilities-revoke.ts'
import { connect } from './client.ts'
import {
  addBudgetOption,
  addConnectionOptions,
  addPageOptions,
  addScopeOptions,
  type BudgetOptions,
  budgetsOf,
  type ConnectionOptions,
  pageOf,
  type PageOptions,
  parseDuration,
  parseInteger,
  scopeOf,
  type ScopeOptions,
} from './options.ts'
import { formatValue, printPage, printRecord } from './output.ts'
import { readPolicy } from './run/policy.ts'
import { readSecret } from './secrets.ts'
import { addOutOption, deliverToken, type TokenKind } from './token-file.ts'

const COLUMNS = [
  'capability_id',
  'label',
  'hosts',
  'path_prefixes',
  'methods',
  'uses',
  'max_uses',
  'expires_at',
  'revoked_at',
]

const CAPABILITY: TokenKind = {
  member: 'capability',
  ifLost: ({ capability_id: id }) => `End it: agent-gateway capabilities revoke ${formatValue(id)}`,
}

type MakeOptions = ConnectionOptions &
  ScopeOptions &
  BudgetOptions & {
    showBalance?: true
    ttl?: number
    maxUses?: number
    label?: string
    out?: string
    policy?: string
  }

/** `capabilities issue|list|narrow|revoke`; a token is printed once, or put into a new file with `--out`. */
export function addCapabilityCommands(program: Command): void {
  const capabilities = program
    .command('capabilities')
    .description('short-lived, scoped tokens (agw_cap_…) for agents')

  addMakeOptions(capabilities.command('issue'))
    .description('make a capability on a stored credential')
    .requiredOption('--credential <credential-id>', 'the credential it is for')
    .addHelpText(
      'after',
      `
Hosts, paths and methods default to the credential's own and can only be made smaller. The token is shown once.

Example:
  agent-gateway capabilities issue --credential cred_… --path /repos/acme/site --method GET --ttl 1h --max-uses 20 --out agent.cap`,
    )
    .action(async (options: MakeOptions & { credential: string }) => {
      const rules = await rulesIn(options)
      const client = await connect(options)
      await deliverToken(options, CAPABILITY, () =>
        client.call(egressCapabilitiesIssue, {
          credential_id: options.credential,
          ...wishesOf(options),
          ...rules,
        }),
      )
    })

  addPageOptions(addConnectionOptions(capabilities.command('list')))
    .description('list capabilities with scope, uses and expiry, newest first; never a token')
    .option('--credential <credential-id>', 'only those on this credential')
    .action(async (options: ConnectionOptions & PageOptions & { credential?: string }) => {
      const filter = options.credential === undefined ? {} : { credential_id: options.credential }
      const answer = await (
        await connect(options)
      ).call(egressCapabilitiesList, { ...pageOf(options), ...filter })
      printPage(answer, answer.capabilities, COLUMNS, 'No capabilities.', options)
    })

  addConnectionOptions(capabilities.command('revoke <capability-id>'))
    .description('end a capability and everything narrowed from it, at once')
    .action(async (id: string, options: ConnectionOptions) => {
      printRecord(
        await (await connect(options)).call(egressCapabilitiesRevoke, { capability_id: id }),
        options,
      )
    })

  addMakeOptions(capabilities.command('narrow'))
    .description('make a smaller capability from one you hold, for handing part of a task on')
    .option('--capability-file <file>', 'read your capability from this file instead of stdin')
    .addHelpText(
      'after',
      `
Takes a capability and no service key. The new one never reaches wider or lives longer, its uses count on yours too, and it ends
when yours is revoked.

Example:
  agent-gateway capabilities narrow --method GET --max-uses 1 --out helper.cap < agent.cap`,
    )
    .action(async (options: MakeOptions & { capabilityFile?: string }) => {
      const rules = await rulesIn(options)
      const client = await connect(options)
      const own = await readSecret('capability', options.capabilityFile)
      await deliverToken(options, CAPABILITY, () =>
        client.call(egressCapabilitiesNarrow, { ...wishesOf(options), ...rules }, own),
      )
    })
}

const addMakeOptions = (command: Command): Command =>
  addOutOption(addBudgetOption(addScopeOptions(addConnectionOptions(command))))
    .option('--policy <file>', 'rules for what it may call, one a line: `ask POST api.github.com/repos/**`')
    .option('--ttl <time>', 'life: 900, 90s, 15m, 24h; a day at most', parseDuration)
    .option('--max-uses <n>', 'attempts it allows; default no limit', parseInteger(1, 1_000_000))
    .option('--show-balance', 'let its holder see the balance of the account')
    .option('--label <text>', 'what it is for; shown in lists')

const wishesOf = (options: MakeOptions) => ({
  ...scopeOf(options),
  ...budgetsOf(options),
  ...(options.showBalance === undefined ? {} : { shows_balance: options.showBalance }),
  ...(options.ttl === undefined ? {} : { ttl_seconds: options.ttl }),
  ...(options.maxUses === undefined ? {} : { max_uses: options.maxUses }),
  ...(options.label === undefined ? {} : { label: options.label }),
})

/** A tunnel is no matter of a capability. */
async function rulesIn({ policy }: MakeOptions): Promise<{ readonly rules?: string[] }> {
  return policy === undefined ? {} : { rules: [...(await readPolicy(policy)).rules] }
}
