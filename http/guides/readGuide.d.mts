export declare const programsFolder: string;
export declare function readGuide(name: string): string;
