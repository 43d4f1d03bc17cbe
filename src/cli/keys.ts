// `keys`: service keys, the tokens of operators.
import { type Command, Option } from 'commander'
import { type Role, ROLES } from '../../schemas/role.ts'
import { keysCreate } from '../../tools/keys-create.ts'
import { keysList } from '../../tools/keys-list.ts'
import { keysRevoke } from '../../tools/keys-revoke.ts'
import { connect } from './client.ts'
import {
  addConnectionOptions,
  addPageOptions,
  type ConnectionOptions,
  pageOf,
  type PageOptions,
} from './options.ts'
import { formatValue, printPage, printRecord } from './output.ts'
import { addOutOption, deliverToken, type TokenKind } from './token-file.ts'

const COLUMNS = ['key_id', 'account_id', 'label', 'role', 'admin', 'created_at', 'revoked_at']

const KEY: TokenKind = {
  member: 'key',
  ifLost: ({ key_id: id }) => `End it: agent-gateway keys revoke ${formatValue(id)}`,
}

/** `keys create|list|revoke`; a key is printed once, or put into a new file with `--out`. */
export function addKeyCommands(program: Command): void {
  const keys = program
    .command('keys')
    .description('service keys (agw_sk_…): what operators and their programs call with')

  addOutOption(addConnectionOptions(keys.command('create')))
    .description('make a further key of your account, or open a new account with its first key')
    .option('--label <text>', 'what it is for; shown in lists')
    .addOption(new Option('--role <role>', 'what it may do; operator unless given').choices(ROLES))
    .option(
      '--new-account <name>',
      'open an account of its own (administrators): own credentials, credits and receipts',
    )
    .addHelpText(
      'after',
      `
The key is shown once. With --out it goes into a new file (0600) and not to the screen.

Examples:
  agent-gateway keys create --label "deploy pipeline" --out deploy.key
  agent-gateway keys create --label "monthly report" --role auditor
  agent-gateway keys create --new-account team-b`,
    )
    .action(
      async (
        options: ConnectionOptions & { label?: string; newAccount?: string; out?: string; role?: Role },
      ) => {
        const client = await connect(options)
        const { label, newAccount, role } = options
        await deliverToken(options, KEY, () =>
          client.call(keysCreate, {
            ...(label === undefined ? {} : { label }),
            ...(role === undefined ? {} : { role }),
            ...(newAccount === undefined ? {} : { account: 'new' as const, name: newAccount }),
          }),
        )
      },
    )

  addPageOptions(addConnectionOptions(keys.command('list')))
    .description('list keys, newest first; an administrator sees every account')
    .action(async (options: ConnectionOptions & PageOptions) => {
      const answer = await (await connect(options)).call(keysList, pageOf(options))
      printPage(answer, answer.keys, COLUMNS, 'No keys.', options)
    })

  addConnectionOptions(keys.command('revoke <key-id>'))
    .description('end a key at once; credentials and capabilities of its account stay')
    .action(async (keyId: string, options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(keysRevoke, { key_id: keyId }), options)
    })
}
