// `people` and `sessions`: who signs in for the account, and where they are signed in.
import { type Command, Option } from 'commander'
import { type Role, ROLES } from '../../schemas/role.ts'
import { peopleInvite } from '../../tools/people-invite.ts'
import { peopleList } from '../../tools/people-list.ts'
import { peopleRemove } from '../../tools/people-remove.ts'
import { peopleRole } from '../../tools/people-role.ts'
import { sessionsEnd } from '../../tools/sessions-end.ts'
import { sessionsList } from '../../tools/sessions-list.ts'
import { connect } from './client.ts'
import {
  addConnectionOptions,
  addPageOptions,
  type ConnectionOptions,
  pageOf,
  type PageOptions,
} from './options.ts'
import { formatValue, printPage, printRecord } from './output.ts'
import { addRecoverCommand } from './recover.ts'
import { addOutOption, deliverToken, type TokenKind } from './token-file.ts'

const PEOPLE = ['person_id', 'name', 'role', 'passkeys', 'joined_at', 'last_seen_at']
const SESSIONS = ['session_id', 'person_id', 'method', 'address', 'created_at', 'last_seen_at', 'expires_at']
const LINK: TokenKind = {
  member: 'link',
  ifLost: ({ invitation_id: id, expires_at: end }) =>
    `${formatValue(id)} ends by itself at ${formatValue(end)}, or now if you withdraw it in the console, at /console/people.`,
}

const roleOption = (text: string) => new Option('--role <role>', text).choices(ROLES)

/** `people list|invite|role|remove|recover`, `sessions list|end`; a link is printed once, or put into a new file with `--out`. */
export function addPeopleCommands(program: Command): void {
  const people = program.command('people').description('people who sign in at /console, and what they may do')

  addPageOptions(addConnectionOptions(people.command('list')))
    .description('list people, newest first, with their roles')
    .action(async (options: ConnectionOptions & PageOptions) => {
      const answer = await (await connect(options)).call(peopleList, pageOf(options))
      printPage(
        answer,
        answer.people,
        PEOPLE,
        'Nobody has joined. `agent-gateway people invite` makes a link.',
        options,
      )
    })

  addOutOption(addConnectionOptions(people.command('invite')))
    .description('make a link with which one person joins; it works once, for an hour')
    .addOption(roleOption('what they may do; owner where nobody has joined yet, else operator'))
    .option('--name <name>', 'who is meant')
    .option('--person <person-id>', 'a member who lost their passkey: the link is for a new one')
    .addHelpText(
      'after',
      `
The link is shown once. Send it over a way that others do not read.

Examples:
  agent-gateway people invite
  agent-gateway people invite --role approver --name "Sarah Haddad"
  agent-gateway people invite --person per_… --out link.txt`,
    )
    .action(
      async (options: ConnectionOptions & { role?: Role; name?: string; person?: string; out?: string }) => {
        const client = await connect(options)
        const { role, name, person } = options
        await deliverToken(options, LINK, () =>
          client.call(peopleInvite, {
            ...(role === undefined ? {} : { role }),
            ...(name === undefined ? {} : { name }),
            ...(person === undefined ? {} : { person_id: person }),
          }),
        )
      },
    )

  addConnectionOptions(people.command('role <person-id>'))
    .description('change what somebody may do, from their next call on')
    .addOption(roleOption('what they may do').makeOptionMandatory())
    .action(async (personId: string, options: ConnectionOptions & { role: Role }) => {
      const answer = await (
        await connect(options)
      ).call(peopleRole, { person_id: personId, role: options.role })
      printRecord(answer, options)
    })

  addConnectionOptions(people.command('remove <person-id>'))
    .description(
      'end what somebody may do, their sessions, what they connected and the keys that they made, at once',
    )
    .option('--keep-keys', 'leave the service keys that they made: somebody else has them')
    .action(async (personId: string, options: ConnectionOptions & { keepKeys?: boolean }) => {
      const input = { person_id: personId, keep_keys: options.keepKeys === true }
      printRecord(await (await connect(options)).call(peopleRemove, input), options)
    })

  addRecoverCommand(people)

  const sessions = program.command('sessions').description('who is signed in, where and since when')
  addPageOptions(addConnectionOptions(sessions.command('list')))
    .description('list sessions, newest first')
    .option('--person <person-id>', 'of one person')
    .action(async (options: ConnectionOptions & PageOptions & { person?: string }) => {
      const { person } = options
      const answer = await (
        await connect(options)
      ).call(sessionsList, {
        ...pageOf(options),
        ...(person === undefined ? {} : { person_id: person }),
      })
      printPage(answer, answer.sessions, SESSIONS, 'Nobody is signed in.', options)
    })

  addConnectionOptions(sessions.command('end <session-id>'))
    .description('sign somebody out at once, wherever they are')
    .action(async (sessionId: string, options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(sessionsEnd, { session_id: sessionId }), options)
    })
}
