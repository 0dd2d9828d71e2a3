interface Asked {
  readonly path: string;
}

interface Answered {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function askEverything(
  ask: (name: string, asked: Asked) => Promise<Answered>,
  askStream: (name: string, path: string, lastEventId?: string) => Promise<unknown>,
): Promise<void>;
