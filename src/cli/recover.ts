// `people recover`: an owner's link where no owner is left who could make one. Whoever can read the data directory has every key that is in
// it, so this asks for nothing more; nobody else can do it.
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { loadConfig } from '../app/config.ts'
import { makeInvitation } from '../identity/invitations.ts'
import { createLogger } from '../lib/log.ts'
import { openStore } from '../store/index.ts'
import { CommandFailure, Exit } from './exit.ts'
import { jsonOption } from './options.ts'
import { formatValue } from './output.ts'
import { explainStartFailure } from './start-failure.ts'
import { addOutOption, deliverToken, type TokenKind } from './token-file.ts'

const LINK: TokenKind = {
  member: 'link',
  ifLost: ({ invitation_id: id, expires_at: end }) =>
    `${formatValue(id)} ends by itself at ${formatValue(end)}; run this again for another one.`,
}

/** Adds the command, which opens the store itself. */
export function addRecoverCommand(people: Command): void {
  addOutOption(people.command('recover'))
    .addOption(jsonOption())
    .option('--account <account-id>', "the account; the installation's first one unless said")
    .description(
      'make a link for an owner where none is left; on the machine of the gateway, while it is stopped',
    )
    .addHelpText(
      'after',
      `
Needs GATEWAY_DATA_DIR (and GATEWAY_DATABASE_URL where that is set), as the gateway is started with. An embedded database is open to one
process: stop the gateway first. The link works once, for an hour, after the next start.`,
    )
    .action(async (options: { account?: string; out?: string; json?: boolean }) => {
      await deliverToken(options, LINK, () => makeOwnerLink(options.account))
    })
}

/** @throws {CommandFailure} where the store cannot be opened, or has no such account */
async function makeOwnerLink(wanted: string | undefined) {
  const config = loadConfig(process.env)
  const store = await openStore({ config, log: createLogger('silent'), bootId: randomUUID() }).catch(
    (thrown: unknown) => {
      const words = explainStartFailure(thrown, config)
      throw words === undefined ? thrown : new CommandFailure(Exit.failed, words)
    },
  )
  try {
    const first = await store.firstAccount()
    const accountId = wanted ?? first
    if (accountId === undefined || !(await store.getAccount(accountId)))
      throw new CommandFailure(
        Exit.failed,
        `There is no such account in ${config.dataDir}. Name its data directory with GATEWAY_DATA_DIR, or leave --account out.`,
      )
    const made = await makeInvitation(
      {
        store,
        addresses: { baseUrl: config.baseUrl ?? `http://localhost:${config.port}` },
        now: Date.now,
      },
      {
        accountId,
        role: 'owner',
        admin: accountId === first,
        name: '',
        personId: null,
        invitedBy: 'machine',
      },
    )
    return {
      invitation_id: made.invitationId,
      account_id: accountId,
      expires_at: new Date(made.expiresAt).toISOString(),
      link: made.link.use((text) => text),
    }
  } finally {
    await store.close()
  }
}
