/** The bar at the top: examples, undo, and ways to take the plan elsewhere. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { RatebookError } from "../../../errors.ts";
import type { PlayExample, PlayState } from "../../play-state.ts";
import { formatCommand } from "../../play/play-bill.ts";
import { SelectField } from "./field.tsx";
import type { PlayProps } from "./play.ts";

interface BarProps extends PlayProps {
  readonly examples: readonly PlayExample[];
  readonly onExample: (state: PlayState) => void;
}

/** What was copied, or the text to copy by hand. */
interface Copied {
  readonly message: string;
  readonly text?: string;
}

export function Bar({ play, examples, onExample }: BarProps): JSX.Element {
  const { session, bill, isLinkable, isJson, setJson, undo } = play;
  const [copied, setCopied] = useState<(Copied & { readonly step: number }) | undefined>();
  const { state, file, step } = session;
  const copy = async (text: string, message: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied({ message, step });
    } catch {
      setCopied({ message: "The browser does not let this page copy. Copy this text:", text, step });
    }
  };
  const share = (): void => {
    const parts = file === undefined ? "the plan and the usage" : "the plan, but not the file";
    if (!isLinkable) setCopied({ message: "The book is too large for a link: copy it from book.jsonc.", step });
    else void copy(location.href, `Link copied. It contains ${parts}.`);
  };
  const copyCommand = (): void => {
    if (bill.book === undefined) return setCopied({ message: "Correct the problems of the book first.", step });
    try {
      const command = formatCommand(state, bill.book, file && { name: file.file.name, map: file.map });
      const folder = file === undefined ? "" : ` Run it in the folder of ${file.file.name}.`;
      void copy(command, `Command copied. It writes the files and prices them.${folder}`);
    } catch (error) {
      if (!(error instanceof RatebookError)) throw error;
      setCopied({ message: error.message, step });
    }
  };
  const shown = copied?.step === step ? copied : undefined;
  return (
    <header class="bar">
      <h1>Playground</h1>
      <SelectField
        label="Start with"
        value=""
        options={[["", "Start with an example…"], ...examples.map(({ title }) => [title, title] as const)]}
        onValue={(chosen) => {
          const example = examples.find(({ title }) => title === chosen);
          if (example !== undefined) onExample(example.state);
        }}
      />
      <div class="bar-actions">
        <button type="button" disabled={undo === undefined} onClick={undo}>
          Undo
        </button>
        <button type="button" onClick={copyCommand}>
          Copy as command
        </button>
        <button type="button" aria-pressed={isJson} onClick={() => setJson(!isJson)}>
          book.jsonc
        </button>
        <button type="button" class="primary" onClick={share}>
          Share
        </button>
      </div>
      <div class="copied" role="status">
        {shown !== undefined && (
          <>
            <bdi>{shown.message}</bdi>
            {shown.text !== undefined && (
              <textarea class="code" aria-label="Text to copy" readOnly rows={6} value={shown.text} />
            )}
          </>
        )}
      </div>
    </header>
  );
}
