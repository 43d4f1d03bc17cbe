// The licences of what the published package holds copies of, as one text: most of them ask that their words go with every copy.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './manifest.ts'
import type { Component } from './contents.ts'

/** What a package says of its own code. */
const OWN = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i
/** The same, and what it says of the code of others that it holds. */
const LICENCE_FILE =
  /^(?:(?:third[-_ ]?party[-_ ]?|copyright[-_ ]?)?(?:licen[cs]es?|notices?)|copying)(?:[.-].*)?$/i
const PROGRAM = /\.(?:[cm]?[jt]sx?|map|json)$/i

/** Some packages name their licence and have no file of it: these words are the licence, with the author that their manifest names. */
const MIT = (holder: string) => `MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

/** @throws {Error} for a licence whose words are nowhere: look them up and say here where they are */
function wordsOf(name: string, license: string, author: string | undefined): string {
  if (license === 'MIT') return MIT(author ?? `the authors of ${name}`)
  if (license === 'Apache-2.0') return readFileSync(join(ROOT, 'LICENSE'), 'utf8').trim()
  throw new Error(`${name}: ${license}, and no file with its words`)
}

/**
 * Licence files of a package and of its folders, its own first. Whether the bundle has code out of such a folder is not asked: what is compiled
 * into one folder of a package may have its licence in another.
 */
function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )
  const here = entries.filter((one) => one.isFile() && LICENCE_FILE.test(one.name) && !PROGRAM.test(one.name))
  const below = entries.filter((one) => one.isDirectory() && !/^(?:\.|node_modules$)/.test(one.name))
  return [
    ...here.map(({ name }) => `${folder}/${name}`),
    ...below.flatMap(({ name }) => filesIn(`${folder}/${name}`)),
  ]
}

function textOf({ folder, name, license, holds }: Component): string {
  const files = filesIn(folder)
  const hasOwn = files.some((file) => OWN.test(file.slice(folder.length + 1)))
  return [
    ...new Set([
      ...(hasOwn ? [] : [wordsOf(name, license, authorOf(folder))]),
      ...files.map((file) => readFileSync(join(ROOT, file), 'utf8').trim()),
      ...holds.flatMap((held) =>
        held.author === undefined ? [] : wordsOf(held.name, held.license, held.author),
      ),
    ]),
  ].join('\n\n')
}

function authorOf(folder: string): string | undefined {
  const { author } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
    author?: string | { name?: string }
  }
  return typeof author === 'string' ? author : author?.name
}

/** The text of THIRD-PARTY-LICENSES.txt: packages with the same words stand together. */
export function describeLicences(components: readonly Component[]): string {
  const byText = Map.groupBy(components, textOf)
  const lists = components.flatMap(({ name, version, license, kind, holds }) => [
    `${name} ${version}: ${license}${kind === 'data' ? ' (data)' : ''}`,
    ...holds.map((held) => `  in it ${[held.name, held.version].filter(Boolean).join(' ')}: ${held.license}`),
  ])
  const texts = [...byText].map(
    ([text, same]) => `${same.map(({ name, version }) => `${name} ${version}`).join(', ')}\n\n${text}`,
  )
  return (
    [
      `agent-gateway holds copies of code or data of ${components.length} packages. Each stays under its own licence.`,
      lists.join('\n'),
      ...texts,
    ].join(`\n\n${'-'.repeat(80)}\n\n`) + '\n'
  )
}
