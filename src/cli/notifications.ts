// `notifications`: addresses that are told of what waits for a person, and of what fails.
import { type Command, Option } from 'commander'
import { ALERT_KINDS, type AlertKind } from '../../schemas/notification.ts'
import { notificationsAdd } from '../../tools/notifications-add.ts'
import { notificationsList } from '../../tools/notifications-list.ts'
import { notificationsRemove } from '../../tools/notifications-remove.ts'
import { notificationsTest } from '../../tools/notifications-test.ts'
import { connect } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import { readInput } from './input.ts'
import { addConnectionOptions, addTableOptions, type ConnectionOptions } from './options.ts'
import type { TableOptions } from './table.ts'
import { printPage, printRecord } from './output.ts'

const COLUMNS = ['notification_id', 'host', 'kinds', 'told_at', 'problem', 'problem_at']

/** `notifications list|add|test|remove`; the address is read from a file, since it may be a secret. */
export function addNotificationCommands(program: Command): void {
  const notifications = program
    .command('notifications')
    .description('addresses that are told of what waits for a person, and of what fails')

  addTableOptions(addConnectionOptions(notifications.command('list')))
    .description('list who is told of what, and whether they take it; never an address')
    .action(async (options: ConnectionOptions & TableOptions) => {
      const answer = await (await connect(options)).call(notificationsList, {})
      printPage({ ...answer, next: null }, answer.notifications, COLUMNS, 'Nobody is told.', options)
    })

  addConnectionOptions(notifications.command('add'))
    .description('tell an address from now on: a webhook signed with the key of the gateway, or a mailbox')
    .requiredOption(
      '--url-file <file>',
      'holds the public https address, which may be a secret, or mailto:anna@example.com; - reads stdin',
    )
    .addOption(
      new Option('--kinds <list>', 'of what, comma-separated; approval unless said')
        .argParser((text: string) => text.split(',').map((kind) => kind.trim()))
        .default(['approval'], 'approval'),
    )
    .addHelpText(
      'after',
      `
Kinds: ${ALERT_KINDS.join(', ')}.

Example:
  echo https://hooks.example.com/agents | agent-gateway notifications add --url-file - --kinds approval,refresh_failed`,
    )
    .action(async (options: ConnectionOptions & { urlFile: string; kinds: readonly string[] }) => {
      const unknown = options.kinds.find((kind) => !ALERT_KINDS.some((known) => known === kind))
      if (unknown !== undefined)
        throw new CommandFailure(Exit.usage, `There is no kind ${unknown}: ${ALERT_KINDS.join(', ')}.`)
      const url = (await readInput('address', options.urlFile)).toString('utf8').trim()
      const kinds = [...options.kinds] as AlertKind[]
      printRecord(await (await connect(options)).call(notificationsAdd, { url, kinds }), options)
    })

  addConnectionOptions(notifications.command('test <notification-id>'))
    .description('send one test notification now, and say whether it was taken')
    .action(async (id: string, options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(notificationsTest, { notification_id: id }), options)
    })

  addConnectionOptions(notifications.command('remove <notification-id>'))
    .description('tell an address no more')
    .action(async (id: string, options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(notificationsRemove, { notification_id: id }), options)
    })
}
