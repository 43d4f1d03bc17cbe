// `attempts`: what became of outbound requests.
import { type Command, Option } from 'commander'
import type { AttemptState } from '../store/model.ts'
import { egressAttemptsGet } from '../../tools/egress-attempts-get.ts'
import { egressAttemptsList } from '../../tools/egress-attempts-list.ts'
import { connect } from './client.ts'
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

/** `attempts show|list`: how outbound requests ended. Needs a service key. */
export function addAttemptCommands(program: Command): void {
  const attempts = program.command('attempts').description('outbound requests and how they ended')

  addConnectionOptions(attempts.command('show <attempt-id>'))
    .description('state, outcome, upstream status, charge and receipt of one attempt')
    .action(async (id: string, options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(egressAttemptsGet, { attempt_id: id }), options)
    })

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
