// `login` and `logout`: a person signs in to a gateway from a terminal (RFC 8628). They decide in the console what this command may do, and
// end it there whenever they like.
import { setTimeout as wait } from 'node:timers/promises'
import type { Command } from 'commander'
import { OPERATOR_SCOPE } from '../core/authenticate.ts'
import { loadConfig } from '../app/config.ts'
import { CLI_CLIENT_ID, DEVICE_GRANT } from '../identity/oauth/clients.ts'
import { findUrl, refusePlainHttp } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import { keepLogin, loginFile, readLogins } from './login-file.ts'
import { accepted, type Answer, ask, keptOf, post, textOf } from './login-token.ts'
import { type ConnectionOptions, jsonOption } from './options.ts'
import { formatValue, printRecord } from './output.ts'

/** RFC 8628, 3.5 */
const POLL_SECONDS = 5

type LoginOptions = Pick<ConnectionOptions, 'url' | 'json' | 'allowPlainHttp'>

/** Adds `login` and `logout`. */
export function addLoginCommands(program: Command): void {
  const addOptions = (command: Command) =>
    command
      .addOption(jsonOption())
      .option(
        '--url <url>',
        'the gateway; default GATEWAY_BASE_URL, else the one that owns the data directory',
      )
      .option('--allow-plain-http', 'use http:// to another machine (the tokens can be read on the way)')

  addOptions(program.command('login'))
    .description('sign in to a gateway as yourself: open the address that is printed, and compare the code')
    .addHelpText(
      'after',
      `
You decide in the browser what this command may do. Commands then act in your name and within your role, where no --key-file and no
GATEWAY_OPERATOR_KEY is given; tools of operators only if you allowed those. The tokens are kept in agent-gateway/login.json of
XDG_CONFIG_HOME, else of ~/.config (0600). \`logout\` ends it, and so does the console, at once.`,
    )
    .action(login)
  addOptions(program.command('logout'))
    .description('end what `login` began, at the gateway too')
    .action(logout)
}

async function gatewayOf(options: LoginOptions): Promise<string> {
  const url = await findUrl(options, loadConfig(process.env))
  refusePlainHttp(url, options)
  return url
}

async function login(options: LoginOptions): Promise<void> {
  const url = await gatewayOf(options)
  const begun = await post(url, '/oauth/device', {
    client_id: CLI_CLIENT_ID,
    scope: `gateway ${OPERATOR_SCOPE}`,
  })
  const deviceCode = textOf(begun, 'device_code')
  process.stderr.write(
    `Open ${formatValue(begun['verification_uri_complete'])}\nand compare the code: ${formatValue(begun['user_code'])}\nWaiting …\n`,
  )
  const tokens = await poll(url, deviceCode, Number(begun['expires_in']))
  const kept = keptOf(tokens)
  await keepLogin(url, kept)
  const mayOperate = kept.scope.split(' ').includes(OPERATOR_SCOPE)
  printRecord({ signed_in_to: url, may_operate: mayOperate, kept_in: loginFile() }, options)
}

async function logout(options: LoginOptions): Promise<void> {
  const url = await gatewayOf(options)
  const held = (await readLogins())[url]
  if (!held) throw new CommandFailure(Exit.failed, `Nobody is signed in to ${url} from here.`)
  // What is on this machine goes first: it must not outlive a gateway that does not answer.
  await keepLogin(url, undefined)
  await post(url, '/oauth/revoke', { client_id: CLI_CLIENT_ID, token: held.refresh_token })
  printRecord({ signed_out_of: url }, options)
}

/** Asks until the person has decided. @throws {CommandFailure} where they refused, or nobody answered in time */
async function poll(url: string, deviceCode: string, seconds: number): Promise<Answer> {
  const until = Date.now() + seconds * 1000
  let interval = POLL_SECONDS
  while (Date.now() < until) {
    await wait(interval * 1000)
    const answer = await ask(url, '/oauth/token', {
      grant_type: DEVICE_GRANT,
      device_code: deviceCode,
      client_id: CLI_CLIENT_ID,
    })
    if (answer['error'] === 'slow_down') interval += POLL_SECONDS
    else if (answer['error'] === 'access_denied')
      throw new CommandFailure(
        Exit.failed,
        'The sign-in was refused in the browser. Run `agent-gateway login` again to ask anew.',
      )
    else if (answer['error'] !== 'authorization_pending') return accepted(url, answer)
  }
  throw new CommandFailure(Exit.failed, 'Nobody decided within ten minutes. Run `agent-gateway login` again.')
}
