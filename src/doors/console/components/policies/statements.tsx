// What a policy does, a sentence each, in the language of the page.
import type { VNode } from 'preact'
import type { z } from 'zod'
import type { PolicyState, PolicyStatement } from '../../../../../schemas/policy.ts'
import { Visible } from '../../../site/components/foreign.tsx'
import type { ConsoleContext } from '../../ports.ts'
import { policyTexts } from '../../texts/policies.ts'

interface StatementsProps {
  readonly page: Pick<ConsoleContext, 'language'>
  readonly statements: readonly z.infer<typeof PolicyStatement>[]
}

/** Everybody, in the values of a statement. */
const ALL = '*'

export function Statements({ page, statements }: StatementsProps): VNode {
  const t = policyTexts[page.language]
  return (
    <ul class="console-statements">
      {statements.map(({ code, values, text }) => {
        const sentence = t.sentences[code]
        const shown = text.startsWith(`${ALL}:`) ? t.everybody + text.slice(ALL.length) : text
        return (
          <li>
            {sentence === undefined ? <Visible text={shown} /> : fillParts(sentence, values, t.everybody)}
          </li>
        )
      })}
    </ul>
  )
}

/** Names and addresses keep their own direction inside of an Arabic sentence. */
const fillParts = (sentence: string, values: Readonly<Record<string, string>>, everybody: string) =>
  sentence.split(/(\{[a-z]+\})/).map((part) => {
    const [, name] = /^\{([a-z]+)\}$/.exec(part) ?? []
    if (name === undefined) return part
    const value = values[name] ?? ''
    return value === ALL ? (
      everybody
    ) : (
      <bdi>
        <Visible text={value} />
      </bdi>
    )
  })

/** Why a text is no policy, with the place of each fault. */
export function Problems({
  page,
  problems,
}: {
  readonly page: Pick<ConsoleContext, 'language'>
  readonly problems: PolicyState['problems']
}): VNode | null {
  if (problems.length === 0) return null
  return (
    <div class="notice fails" role="alert">
      <p>
        <strong>{policyTexts[page.language].invalid}.</strong>
      </p>
      <ul lang="en" dir="ltr">
        {problems.map(({ pointer, message }) => (
          <li>
            {pointer !== '' && (
              <>
                <code>
                  <Visible text={pointer} />
                </code>{' '}
              </>
            )}
            <Visible text={message} />
          </li>
        ))}
      </ul>
    </div>
  )
}
