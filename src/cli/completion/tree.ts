// What may stand at each place of the command line, from the tree of commands itself.
import type { Argument, Command, Option } from 'commander'

/** What a value is: one of some words, a file, or anything. */
export type Value = { readonly words: readonly string[] } | 'file' | 'any'

export interface CompletedOption {
  /** `--state`, `-V`. */
  readonly flags: readonly string[]
  /** Undefined where it takes no value. */
  readonly value: Value | undefined
  readonly description: string
}

export interface Place {
  /** Names of the commands that lead here: `payments list`; empty at the top. */
  readonly path: string
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly CompletedOption[]
  /** Of the arguments, all in one: nobody counts which of them comes next. */
  readonly argument: Value | undefined
}

/** Words that a script may hold: nothing in them means anything to a shell. */
const isPlain = (word: string) => /^[\w@%+:,./-]+$/.test(word)
/** Names by which this command line calls a file (`--out <file>`, `<file...>`). */
const NAMES_FILE = /file|folder|directory/i

/** Every place, the top first. */
export function placesOf(command: Command, path = ''): readonly Place[] {
  const below = command.commands.filter((child) => isPlain(child.name()))
  const help = command.createHelp()
  return [
    {
      path,
      commands: below.map((child) => ({ name: child.name(), description: plainText(child.description()) })),
      options: help.visibleOptions(command).map(toOption),
      argument: argumentOf(command.registeredArguments),
    },
    ...below.flatMap((child) => placesOf(child, `${path} ${child.name()}`.trim())),
  ]
}

function toOption({
  short,
  long,
  flags,
  argChoices,
  required,
  optional,
  description,
}: Option): CompletedOption {
  return {
    flags: [short, long].filter((flag): flag is string => flag !== undefined && flag !== null),
    value: required || optional ? valueOf(flags, argChoices) : undefined,
    description: plainText(description),
  }
}

function valueOf(name: string, choices: readonly string[] | undefined): Value {
  if (choices) return { words: choices.filter(isPlain) }
  return NAMES_FILE.test(name.replace(/^.*[<[]/, '')) ? 'file' : 'any'
}

function argumentOf(registered: readonly Argument[]): Value | undefined {
  const values = registered.map((argument) => valueOf(`<${argument.name()}`, argument.argChoices))
  const words = values.flatMap((value) => (typeof value === 'object' ? value.words : []))
  if (words.length > 0) return { words }
  if (values.includes('file')) return 'file'
  return values.length > 0 ? 'any' : undefined
}

/** A description as a script may hold it: one line, without a quote or a backslash. */
const plainText = (text: string) => text.replaceAll(/[\s\\'"`$:[\]]+/g, ' ').trim()

export const isWords = (value: Value | undefined): value is { readonly words: readonly string[] } =>
  typeof value === 'object'
/** Flags of all options that take a value: what stands behind one is not a command. */
export const takingValues = (places: readonly Place[]): readonly string[] => [
  ...new Set(
    places.flatMap(({ options }) => options.filter(({ value }) => value).flatMap(({ flags }) => flags)),
  ),
]
