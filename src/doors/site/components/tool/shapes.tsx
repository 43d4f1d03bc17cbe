// What goes in, what comes out and what may go wrong: the same for a tool and for a capability.
import type { VNode } from 'preact'
import type { JsonSchema } from '../../../../core/registry.ts'
import type { PageContext } from '../../ports.ts'
import { toolTexts } from '../../texts/tool.ts'
import { Code } from '../code.tsx'
import { Link } from '../link.tsx'
import { SchemaTable } from '../schema-table.tsx'
import { ErrorTable } from './errors.tsx'

interface ShapesProps {
  readonly data: {
    readonly input_schema: JsonSchema
    readonly output_schema: JsonSchema
    readonly sample_output: unknown
    readonly schema_url: string
    readonly errors: Parameters<typeof ErrorTable>[0]['errors']
  }
  readonly page: PageContext
  /** Words that lead to the schema as JSON. */
  readonly link: string
}

export function Shapes({ data, page, link }: ShapesProps): VNode {
  const t = toolTexts[page.language]
  return (
    <>
      <section class="stack" aria-labelledby="input">
        <h2 id="input">{t.input}</h2>
        <SchemaTable schema={data.input_schema} page={page} label={t.input} kind="input" />
      </section>
      <section class="stack" aria-labelledby="output">
        <h2 id="output">{t.output}</h2>
        <SchemaTable schema={data.output_schema} page={page} label={t.output} kind="output" />
        <details>
          <summary>{t.sample}</summary>
          <Code
            text={JSON.stringify(data.sample_output, undefined, 2)}
            page={page}
            label="JSON"
            language="json"
          />
        </details>
        <p class="small">
          <Link to={data.schema_url}>{link}</Link>
        </p>
      </section>
      <section class="stack" aria-labelledby="errors">
        <h2 id="errors">{t.errors}</h2>
        <ErrorTable errors={data.errors} page={page} />
      </section>
    </>
  )
}
