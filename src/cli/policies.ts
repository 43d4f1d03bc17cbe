// `policies`: what the installation allows, as texts that are tried before they are put in force.
import type { Command } from 'commander'
import { policiesCheck } from '../../tools/policies-check.ts'
import { policiesGet } from '../../tools/policies-get.ts'
import { policiesHistory } from '../../tools/policies-history.ts'
import { policiesList } from '../../tools/policies-list.ts'
import { policiesRevision } from '../../tools/policies-revision.ts'
import { policiesUpdate } from '../../tools/policies-update.ts'
import type { PolicyState } from '../../schemas/policy.ts'
import { connect } from './client.ts'
import { readInput } from './input.ts'
import {
  addConnectionOptions,
  addPageOptions,
  type ConnectionOptions,
  pageOf,
  type PageOptions,
} from './options.ts'
import { printPage, printRecord } from './output.ts'

type Policy = PolicyState['policy']
type TextOptions = ConnectionOptions & { readonly file: string }

const COLUMNS = ['revision_id', 'at', 'way', 'by', 'note']
/** Sentences as people read them; `--json` has all of it. */
const shown = <T extends { readonly statements: PolicyState['statements'] }>(
  answer: T,
  { json }: ConnectionOptions,
): Readonly<Record<string, unknown>> =>
  json ? answer : { ...answer, statements: answer.statements.map(({ text }) => text).join(' ') }

const textIn = async ({ file }: TextOptions) => (await readInput('policy', file)).toString('utf8')

/** `policies list|show|check|set|history|revision`, for administrators. */
export function addPolicyCommands(program: Command): void {
  const policies = program
    .command('policies')
    .description('what the installation allows: egress, payment and transaction policy (administrators)')

  addConnectionOptions(policies.command('list'))
    .description('every policy, with what it does in words')
    .action(async (options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(policiesList, {}), options)
    })

  addConnectionOptions(policies.command('show <policy>'))
    .description('one policy (egress, payment, transaction): its text, its revision, and what it does')
    .action(async (policy: Policy, options: ConnectionOptions) => {
      printRecord(shown(await (await connect(options)).call(policiesGet, { policy }), options), options)
    })

  addConnectionOptions(policies.command('check <policy>'))
    .description('try a text without effect: is it valid, what does it do, what would it have decided')
    .requiredOption('--file <file>', 'the text; - for stdin')
    .action(async (policy: Policy, options: TextOptions) => {
      const text = await textIn(options)
      printRecord(
        shown(await (await connect(options)).call(policiesCheck, { policy, text }), options),
        options,
      )
    })

  addConnectionOptions(policies.command('set <policy>'))
    .description('put a text in force, in the place of the one that was read')
    .requiredOption('--file <file>', 'the text; - for stdin')
    .requiredOption('--revision <revision>', 'of the text that was read: `policies show` names it')
    .option('--note <text>', 'why; shown in the history')
    .action(
      async (
        policy: Policy,
        options: TextOptions & { readonly revision: string; readonly note?: string },
      ) => {
        const { revision, note = '' } = options
        const text = await textIn(options)
        printRecord(
          shown(
            await (await connect(options)).call(policiesUpdate, { policy, text, revision, note }),
            options,
          ),
          options,
        )
      },
    )

  addPageOptions(addConnectionOptions(policies.command('history <policy>')))
    .description('who changed it, when and why, newest first')
    .action(async (policy: Policy, options: ConnectionOptions & PageOptions) => {
      const answer = await (await connect(options)).call(policiesHistory, { policy, ...pageOf(options) })
      printPage(
        answer,
        answer.revisions.map(({ by, ...revision }) => ({ ...revision, by: by.id ?? by.kind })),
        COLUMNS,
        'Nobody has changed this policy yet.',
        options,
      )
    })

  addConnectionOptions(policies.command('revision <policy> <revision-id>'))
    .description('one change, with the text before and after it')
    .action(async (policy: Policy, revision_id: string, options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(policiesRevision, { policy, revision_id }), options)
    })
}
