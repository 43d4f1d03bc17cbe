// The licences of what the published package holds copies of, as one text: most of them ask that their words go with every copy.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './manifest.ts'
import type { Component } from './contents.ts'

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i

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
function textOf({ folder, name, license }: Component): string {
  const files = readdirSync(join(ROOT, folder)).filter((file) => LICENCE_FILE.test(file))
  const texts = files.sort().map((file) => readFileSync(join(ROOT, folder, file), 'utf8').trim())
  if (texts.length > 0) return texts.join('\n\n')
  if (license === 'MIT') return MIT(authorOf(folder) ?? `the authors of ${name}`)
  if (license === 'Apache-2.0') return readFileSync(join(ROOT, 'LICENSE'), 'utf8').trim()
  throw new Error(`${name}: ${license}, and no file with its words`)
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
    ...(holds ? [`  in it ${holds.name} ${holds.version}: ${holds.license}`] : []),
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
