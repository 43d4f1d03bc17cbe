// `attempts`: what became of outbound requests.
import { type Command, Option } from 'commander'
import type { AttemptState } from '../store/model.ts'
import { egressAttemptsGet } from '../../tools/egress-attempts-get.ts'
import { egressAttemptsList } from '../../tools/egress-attempts-list.ts'
import { egressAttemptsReconcile } from '../../tools/egress-attempts-reconcile.ts'
import { connect } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import {
  addConnectionOptions,
  addPageOptions,
  type ConnectionOptions,
  pageOf,
  type PageOptions,
} from './options.ts'
import { printPage, printRecord } from './output.ts'

const STATES = [
  'reserved',
  'sending',
  'settled',
  'ambiguous',
  'refunded',
] as const satisfies readonly AttemptState[]
const COLUMNS = [
  'attempt_id',
  'created_at',
  'state',
  'outcome',
  'method',
  'host',
  'upstream_status',
  'credits_charged',
]

/** `attempts show|list|reconcile`: how outbound requests ended. Needs a service key. */
export function addAttemptCommands(program: Command): void {
  const attempts = program.command('attempts').description('outbound requests and how they ended')

  addConnectionOptions(attempts.command('show <attempt-id>'))
    .description('state, outcome, upstream status, charge and receipt of one attempt')
    .action(async (id: string, options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(egressAttemptsGet, { attempt_id: id }), options)
    })

  addConnectionOptions(attempts.command('reconcile <attempt-id>'))
    .description('end an ambiguous attempt on your word; nothing is ever sent again by it')
    .addOption(
      new Option('--happened', 'the upstream carried it out: the charge stands').conflicts('didNotHappen'),
    )
    .option('--did-not-happen', 'it did not: the credit goes back (administrators)')
    .requiredOption('--reason <text>', 'how you know; it stands in the signed receipt of the decision')
    .addHelpText(
      'after',
      `
Look at the upstream first: \`attempts show\` has the Idempotency-Key that it was sent. A decision is final.

Example:
  agent-gateway attempts reconcile att_… --happened --reason "on the dashboard under our idempotency key"`,
    )
    .action(reconcile)

  addPageOptions(addConnectionOptions(attempts.command('list')))
    .description('attempts of your account, newest first')
    .addOption(
      new Option('--state <state>', 'only those in this state; ambiguous ones need a decision').choices(
        STATES,
      ),
    )
    .addHelpText(
      'after',
      `
Example: what was charged but may or may not have reached its upstream, and is never sent again by itself:
  agent-gateway attempts list --state ambiguous`,
    )
    .action(async (options: ConnectionOptions & PageOptions & { state?: AttemptState }) => {
      const filter = options.state === undefined ? {} : { state: options.state }
      const answer = await (
        await connect(options)
      ).call(egressAttemptsList, { ...pageOf(options), ...filter })
      printPage(answer, answer.attempts, COLUMNS, 'No attempts.', options)
    })
}

async function reconcile(
  id: string,
  options: ConnectionOptions & { happened?: boolean; didNotHappen?: boolean; reason: string },
): Promise<void> {
  const { happened, didNotHappen, reason } = options
  if (!happened && !didNotHappen)
    throw new CommandFailure(Exit.usage, 'Say what became of it: --happened or --did-not-happen.')
  const decision = happened ? ('happened' as const) : ('did_not_happen' as const)
  const asked = { attempt_id: id, decision, reason }
  printRecord(await (await connect(options)).call(egressAttemptsReconcile, asked), options)
}
