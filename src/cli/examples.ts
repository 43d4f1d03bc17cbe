// Every command's help ends with an example. Most bring their own; for the plain ones it follows from what they take.
import type { EventEmitter } from 'node:events'
import type { AddHelpTextContext, Argument, Command, Option } from 'commander'

/** What a person would write for a name in angle brackets; ids begin as those of the gateway do. */
const SAMPLES: Readonly<Record<string, string>> = {
  'key-id': 'key_…',
  'notification-id': 'ntg_…',
  'person-id': 'per_…',
  'session-id': 'ses_…',
  'claim-id': 'clm_…',
  'claim-or-receipt': 'clm_…',
  'credential-id': 'cred_…',
  'capability-id': 'cap_…',
  'mandate-id': 'mdt_…',
  'permit-id': 'pmt_…',
  'attempt-id': 'att_…',
  'receipt-id': 'rcp_…',
  'revision-id': 'prv_…',
  'service-id': 'weather-now',
  'seller/service': 'acme-weather/weather-now',
  seller: 'acme-weather',
  origin: 'https://api.example.com',
  address: '0x…',
  policy: 'egress-policy',
  kid: 'KID',
  file: 'file.json',
  method: 'GET',
  url: 'https://api.example.com',
  revision: 'prv_…',
  path: '/items',
  text: '"why"',
  reason: '"why"',
  role: 'operator',
  name: 'NAME',
  id: 'ID',
}

/** Adds the example of each command that has none, when its help is asked for. */
export function addExamples(program: Command): void {
  program.addHelpText('afterAll', ({ command }: AddHelpTextContext) =>
    command.commands.length > 0 || ownHelp(command).includes('Example')
      ? ''
      : `\nExample:\n  ${exampleOf(command)}`,
  )
}

/** What the command itself says behind its options. */
function ownHelp(command: Command): string {
  let text = ''
  // commander keeps added texts as listeners, and its types do not say so.
  const texts = command as unknown as EventEmitter
  texts.emit('afterHelp', { error: false, command, write: (part: string) => void (text += part) })
  return text
}

/** @throws {Error} where nobody has said what a name stands for: a test asks every command */
export function exampleOf(command: Command): string {
  const names: string[] = []
  for (let at: Command | null = command; at; at = at.parent) names.unshift(at.name())
  const values = command.registeredArguments
    .filter(({ required }) => required)
    .map((argument: Argument) => sampleOf(argument.name(), argument.argChoices))
  const options = command.options
    .filter(({ mandatory }) => mandatory)
    .filter(({ defaultValue }) => defaultValue === undefined)
    .map(
      ({ long, flags, argChoices }: Option) =>
        `${long} ${sampleOf(/[<[]([^>\]]+)/.exec(flags)?.[1] ?? '', argChoices)}`,
    )
  return [...names, ...values, ...options].join(' ')
}

function sampleOf(name: string, choices: readonly string[] | undefined): string {
  const sample = choices?.[0] ?? SAMPLES[name]
  if (sample === undefined) throw new Error(`examples.ts has no sample of <${name}>`)
  return sample
}
