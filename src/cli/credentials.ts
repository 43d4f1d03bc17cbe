// `credentials`: upstream secrets. They go in from stdin or a file, and never come out again.
import type { Command } from 'commander'
import { CredentialSettings } from '../../schemas/credential-settings.ts'
import type { ProviderId } from '../../schemas/egress.ts'
import { egressCredentialsCreate } from '../../tools/egress-credentials-create.ts'
import { egressCredentialsDelete } from '../../tools/egress-credentials-delete.ts'
import { egressCredentialsEdit } from '../../tools/egress-credentials-edit.ts'
import { egressCredentialsGet } from '../../tools/egress-credentials-get.ts'
import { egressCredentialsList } from '../../tools/egress-credentials-list.ts'
import { egressCredentialsRevoke } from '../../tools/egress-credentials-revoke.ts'
import { egressCredentialsRotate } from '../../tools/egress-credentials-rotate.ts'
import { type Client, connect } from './client.ts'
import { confirm } from './confirm.ts'
import { CommandFailure, Exit } from './exit.ts'
import { addSettingsOption, settingsIn, type SettingsOption } from './credential-parts.ts'
import {
  addReachOptions,
  addSecretOptions,
  type ReachOptions,
  refuseTwoLists,
  readSecretTexts,
  type SecretOptions,
  withReach,
} from './credential-reach.ts'
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
  scopeOf,
  type ScopeOptions,
} from './options.ts'
import { printPage, printRecord } from './output.ts'

const COLUMNS = [
  'credential_id',
  'provider',
  'label',
  'hosts',
  'path_prefixes',
  'methods',
  'version',
  'revoked_at',
]

type EditOptions = ConnectionOptions &
  ScopeOptions &
  ReachOptions &
  SettingsOption &
  BudgetOptions & { label?: string }
type AddOptions = ConnectionOptions &
  ScopeOptions &
  ReachOptions &
  SecretOptions &
  SettingsOption &
  BudgetOptions & {
    provider: ProviderId
    label?: string
    header?: string
    scheme?: string
  }

/** `credentials add|list|show|rotate|edit|revoke|delete`; a secret is read from stdin or a file, never from an argument. */
export function addCredentialCommands(program: Command): void {
  const credentials = program
    .command('credentials')
    .description('upstream secrets that agents use without ever holding them')

  addSettingsOption(
    addSecretOptions(
      addBudgetOption(addReachOptions(addScopeOptions(addConnectionOptions(credentials.command('add'))))),
    ),
  )
    .description('store a secret with the hosts, paths and methods it may ever be used for')
    .requiredOption(
      '--provider <id>',
      'whose secret it is: custom, or an id of those that the console lists under Providers (github, openai, datadog …)',
    )
    .option('--label <text>', 'what it is for; shown in lists')
    .option('--header <name>', 'custom: request header the secret goes in, lower case; default authorization')
    .option(
      '--scheme <word>',
      'custom: word before the secret, "" for none; default Bearer with authorization',
    )
    .addHelpText(
      'after',
      `
The secret is read from stdin, from a prompt without echo when stdin is a terminal, or from --secret-file: never from an argument,
where the process list and the shell history would show it. A named provider brings its host and header; custom needs --host.
--path and --method default to everything on those hosts (/ and all methods): name them, they are the outer limit for every agent.

Examples:
  agent-gateway credentials add --provider openai --label research --path /v1/chat --method POST
  agent-gateway credentials add --provider custom --host api.example.com --path /v2 --method GET --header x-api-key --scheme "" < key.txt
  agent-gateway credentials add --provider jira --host acme.atlassian.net --path /rest/api/3 --parts < user-and-password.json
  agent-gateway credentials add --provider custom --host s3.eu-west-1.amazonaws.com --path /photos --settings-file s3.json --parts < keys.json`,
    )
    .action(async (options: AddOptions) => {
      const client = await connect(options)
      const given = await settingsIn(options)
      refuseTwoLists(given, options)
      const settings = await withReach(given, options)
      const texts = await readSecretTexts(options)
      const { provider, label, header, scheme } = options
      const record = await client.call(egressCredentialsCreate, {
        path_prefixes: ['/'],
        methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
        ...scopeOf(options),
        ...budgetsOf(options),
        provider,
        ...texts,
        ...(label === undefined ? {} : { label }),
        ...(header === undefined ? {} : { header }),
        ...(scheme === undefined ? {} : { scheme }),
        ...(Object.keys(settings).length === 0 ? {} : { settings }),
      })
      printRecord(record, options)
    })

  addPageOptions(addConnectionOptions(credentials.command('list')))
    .description('list metadata, newest first; never a secret')
    .action(async (options: ConnectionOptions & PageOptions) => {
      const answer = await (await connect(options)).call(egressCredentialsList, pageOf(options))
      printPage(
        answer,
        answer.credentials,
        COLUMNS,
        'No credentials. Store one: agent-gateway credentials add --help',
        options,
      )
    })

  addConnectionOptions(credentials.command('show <credential-id>'))
    .description('one credential, and how it goes with the tokens that are minted from it; never a secret')
    .action(async (id: string, options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(egressCredentialsGet, { credential_id: id }), options)
    })

  addSecretOptions(addConnectionOptions(credentials.command('rotate <credential-id>')))
    .description('replace the secret; scope and capabilities stay, the next request uses the new one')
    .addHelpText(
      'after',
      `
All parts are sent, but for the refresh_token of a credential that has one: left out, the newest stays, which the provider may have given last.

Example:
  echo '{"client_secret": "…"}' | agent-gateway credentials rotate cred_… --parts`,
    )
    .action(async (id: string, options: ConnectionOptions & SecretOptions) => {
      const client = await connect(options)
      const texts = await readSecretTexts(options)
      const record = await client.call(egressCredentialsRotate, { credential_id: id, ...texts })
      printRecord(record, options)
    })

  addBudgetOption(
    addReachOptions(
      addSettingsOption(addScopeOptions(addConnectionOptions(credentials.command('edit <credential-id>')))),
    ),
  )
    .description('change label, scope, settings or budgets without the secret; raises the version')
    .option('--label <text>', 'what it is for; shown in lists')
    .addHelpText(
      'after',
      `
What is left out stays. The settings of a file replace all that there were, but for what belongs to the secret (kind, parts, placements), and
so do budgets; --ca-file and --unsafe-private-target change nothing else. Permits that were prepared before have to be prepared again.

Examples:
  agent-gateway credentials edit cred_… --method GET --budget calls/day=1000
  agent-gateway credentials edit cred_… --ca-file authority.pem`,
    )
    .action(async (id: string, options: EditOptions) => {
      const client = await connect(options)
      const settings = await editedSettings(client, id, options)
      const record = await client.call(egressCredentialsEdit, {
        credential_id: id,
        ...scopeOf(options),
        ...budgetsOf(options),
        ...(settings && { settings }),
        ...(options.label === undefined ? {} : { label: options.label }),
      })
      printRecord(record, options)
    })

  addConnectionOptions(credentials.command('delete <credential-id>'))
    .description('remove a credential with its sealed secret and every capability on it')
    .option('--yes', 'do not ask')
    .action(async (id: string, options: ConnectionOptions & { yes?: true }) => {
      const client = await connect(options)
      if (options.yes === undefined)
        await confirm(
          `Delete ${id} with its secret and every capability on it?`,
          'Nobody can be asked here: add --yes to delete it.',
        )
      printRecord(await client.call(egressCredentialsDelete, { credential_id: id }), options)
    })

  addConnectionOptions(credentials.command('revoke <credential-id>'))
    .description('end a credential and every capability on it, at once and for good; wipes its secret')
    .action(async (id: string, options: ConnectionOptions) => {
      printRecord(
        await (await connect(options)).call(egressCredentialsRevoke, { credential_id: id }),
        options,
      )
    })
}

/** @returns undefined where nothing is said of them, so that they stay */
async function editedSettings(client: Client, id: string, options: EditOptions) {
  const { settingsFile, unsafePrivateTarget, caFile } = options
  if (settingsFile === undefined && unsafePrivateTarget === undefined && caFile === undefined)
    return undefined
  const given = settingsFile === undefined ? await storedSettings(client, id) : await settingsIn(options)
  if (settingsFile !== undefined) refuseTwoLists(given, options)
  const { kind, parts, placements, ...settings } = await withReach(given, options)
  if (settingsFile !== undefined && (kind ?? parts ?? placements) !== undefined)
    throw new CommandFailure(
      Exit.usage,
      'The settings file has kind, parts or placements, which belong to the secret: leave them out, or store a new credential.',
    )
  return settings
}

async function storedSettings(client: Client, id: string): Promise<CredentialSettings> {
  const { settings } = await client.call(egressCredentialsGet, { credential_id: id })
  return CredentialSettings.parse(settings)
}
