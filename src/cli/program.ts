// Assembles the commands; each group of commands is in a file of its own.
import { Command, CommanderError } from 'commander'
import { describeUnknownVariables } from '../app/unknown-variables.ts'
import { ConfigError } from '../core/errors.ts'
import { API_VERSION } from '../core/config.ts'
import { addAuditCommands } from './audit.ts'
import { addAttemptCommands } from './attempts.ts'
import { addAuthorityCommands } from './authority.ts'
import { addBackupCommand } from './backup.ts'
import { addSigningKeyCommands } from './signing-key.ts'
import { addCapabilityCommands } from './capabilities.ts'
import { addCredentialCommands } from './credentials.ts'
import { addCreditCommands } from './credits.ts'
import { addDatabaseCommands } from './database.ts'
import { addEdgeCommands } from './edge.ts'
import { addEmailCommands } from './email.ts'
import { addInspectCommand } from './inspect.ts'
import { addKeyCommands } from './keys.ts'
import { addListingCommands } from './listings.ts'
import { addLoginCommands } from './login.ts'
import { addMandateCommands } from './mandates.ts'
import { addMigrateCommand } from './migrate.ts'
import { addPaymentCommands } from './payments.ts'
import { addPayoutCommands } from './payouts.ts'
import { addNotificationCommands } from './notifications.ts'
import { addPeopleCommands } from './people.ts'
import { addPermitCommands } from './permits.ts'
import { addPolicyCommands } from './policies.ts'
import { addRunPolicyCommands } from './policy.ts'
import { addReceiptCommands } from './receipts.ts'
import { addRestoreCommand } from './restore.ts'
import { addEnvCommand } from './run/env.ts'
import { addRunCommand } from './run/index.ts'
import { addSellerCommands } from './sellers.ts'
import { CommandFailure, Exit } from './exit.ts'
import { addDemoCommand } from './demo/index.ts'
import { addCompletionCommand } from './completion/index.ts'
import { addDoctorCommand } from './doctor.ts'
import { addExamples } from './examples.ts'
import { wantsJson } from './options.ts'
import { printFailure } from './output.ts'
import { addSandboxCommands, ensureSandboxPackages } from './sandbox.ts'
import { refuseSecretArguments } from './secrets.ts'
import { serve } from './serve.ts'
import { addStdioCommand } from './stdio.ts'
import { addTestCommand } from './test.ts'
import { addUpgradeCheckCommand } from './upgrade-check.ts'

const HELP = `
Examples:
  agent-gateway serve
      Start the gateway (sandbox mode unless GATEWAY_MODE=production).
  agent-gateway credentials add --provider github --label "issues bot" --path /repos/acme < github-token.txt
      Store a token once. It is encrypted and never shown again.
  agent-gateway capabilities issue --credential cred_… --path /repos/acme/site --method GET --ttl 1h --out agent.cap
      What the agent gets instead: short-lived, and only for that path and method.
  agent-gateway permits list --pending
      Requests that wait for a person; \`permits approve\` shows exactly what would be sent, and asks.
  agent-gateway run --credential openai -- python3 ask.py
      A program that knows nothing of the gateway: it sees a placeholder, and the secret is put in on its way out.
  agent-gateway receipts verify receipt.json
      Check a receipt against the published keys.
  agent-gateway test payment.json
      Score a sample of an agent's payment: what is missing, and what to do about it. Offline.
  agent-gateway test samples/ --min-score 75 --format github
      The same for many files, as a check of a build.
  agent-gateway demo
      Pay for every paid tool of the sandbox once, with test money.
  agent-gateway doctor
      When something does not work: what is wrong and what to do.

Which gateway: --url, else GATEWAY_BASE_URL, else the one that owns the data directory (GATEWAY_DATA_DIR), else HOST and PORT.
Which key: --key-file, else GATEWAY_OPERATOR_KEY, else what \`agent-gateway login\` got, else operator.key in the data directory. A secret is never an argument.
Exit codes: 0 done; 1 refused or failed; 2 wrong usage; 3 no gateway answers; 65 the file is no sample; 69 something has to be installed first; 78 configuration.`

/**
 * The tree of commands; nothing runs before it is asked to parse.
 * @param writeErr takes what is wrong with the arguments, in pieces; stderr unless given
 */
export function createProgram(writeErr?: (text: string) => void): Command {
  const program = new Command('agent-gateway')
    // Before the commands are added: each takes this over when it is made.
    .configureOutput(writeErr === undefined ? {} : { writeErr })
    .description('The gateway through which AI agents act on the internet without ever holding a secret.')
    .version(API_VERSION)
    .exitOverride()
    .helpCommand(false)
    .showHelpAfterError('(--help shows the options and examples)')
    .addHelpText('after', HELP)

  program.hook('preAction', (_program, action) => {
    // These say it in their own way: in the log, and as findings.
    if (['serve', 'doctor'].includes(action.name()) || action.opts()['json'] === true) return
    for (const sentence of describeUnknownVariables(process.env))
      process.stderr.write(`agent-gateway: ${sentence}\n`)
  })

  program.commandsGroup('Gateway:')
  program
    .command('serve')
    .description('start the gateway and run until a signal ends it')
    .addHelpText(
      'after',
      `
Configured by environment variables (PORT, HOST, GATEWAY_MODE, GATEWAY_DATA_DIR …; docs/configuration.md lists them all).
The first start makes a service key and keeps it in GATEWAY_DATA_DIR/operator.key (0600). In sandbox mode it is printed once on
stdout; in production it is printed only to a terminal, because logs keep what they are given. With it comes a link with which the first
person joins: it works once, for an hour, and \`agent-gateway people invite\` makes another.
stdout: the key, the link, then \`listening on <url>\` once requests are answered. stderr: the banner and one JSON line per call.
SIGTERM, SIGINT and SIGHUP drain: no new calls, running ones finish (35 s at most), the store closes. A second signal ends at once.
Bad configuration: every problem in words, exit code 78, nothing listens.`,
    )
    .option('--without-test-payments', 'start a sandbox although the node of its chains is not installed')
    .action(async ({ withoutTestPayments }: { withoutTestPayments?: true }) => {
      if (withoutTestPayments !== true) await ensureSandboxPackages(process.env)
      await serve(process.env)
    })
  addStdioCommand(program)
  addRunCommand(program)
  addEnvCommand(program)
  addDemoCommand(program)
  addSandboxCommands(program)
  addDoctorCommand(program)
  addUpgradeCheckCommand(program)

  program.commandsGroup('Data (on the machine of the gateway):')
  addBackupCommand(program)
  addRestoreCommand(program)
  addMigrateCommand(program)

  program.commandsGroup('Transactions (no gateway needed):')
  addTestCommand(program)
  addInspectCommand(program)

  program.commandsGroup('Operation (needs a running gateway):')
  addLoginCommands(program)
  addKeyCommands(program)
  addNotificationCommands(program)
  addPeopleCommands(program)
  addCreditCommands(program)
  addPaymentCommands(program)
  addPayoutCommands(program)
  addSellerCommands(program)
  addListingCommands(program)
  addCredentialCommands(program)
  addCapabilityCommands(program)
  addMandateCommands(program)
  addPolicyCommands(program)
  addRunPolicyCommands(program)
  addPermitCommands(program)
  addEdgeCommands(program)
  addEmailCommands(program)
  addAuthorityCommands(program)
  addSigningKeyCommands(program)

  program.commandsGroup('Database (needs no running gateway):')
  addDatabaseCommands(program)

  program.commandsGroup('Records:')
  addAttemptCommands(program)
  addReceiptCommands(program)
  addAuditCommands(program)

  program.commandsGroup('Shell:')
  addCompletionCommand(program)
  addExamples(program)
  return program
}

/** Sets the exit code; never throws. */
export async function run(args: readonly string[]): Promise<void> {
  const json = wantsJson(args)
  let usage = ''
  try {
    refuseSecretArguments(args)
    const program = createProgram(json ? (text) => void (usage += text) : undefined)
    if (args.length === 0) program.help({ error: true })
    await program.parseAsync(args, { from: 'user' })
  } catch (thrown) {
    process.exitCode = report(thrown, json, usage)
  }
}

/** @param usage what commander said and nobody has printed: with --json it is a problem like every other */
function report(thrown: unknown, json: boolean, usage: string): number {
  const failure = toFailure(thrown, usage)
  if (failure instanceof CommandFailure) {
    printFailure(failure, json)
    return failure.exitCode
  }
  return failure
}

/** @returns the exit code alone where everything is said. @throws what nobody foresaw */
function toFailure(thrown: unknown, usage: string): CommandFailure | number {
  if (thrown instanceof CommandFailure) return thrown
  if (thrown instanceof ConfigError) return new CommandFailure(Exit.config, thrown.message)
  if (!(thrown instanceof CommanderError)) throw thrown
  // Help and version are no failures.
  if (thrown.code === 'commander.helpDisplayed' || thrown.code === 'commander.version') return Exit.ok
  // Without --json commander has printed its words already.
  return usage === '' ? Exit.usage : new CommandFailure(Exit.usage, usage.trim().replace(/^error: /, ''))
}
