//! The reader of printed reports and the rules, on whole reports; in one program, so that it is linked once.

mod beside;
mod causes;
mod changed;
mod commands;
mod contradictions;
mod doubts;
mod excluded;
mod figures;
mod genuine;
mod golden;
mod inputs;
mod loops;
mod mutations;
mod noise;
mod others;
mod pasted;
mod published;
mod readers;
mod said;
mod sections;
mod targets;
mod titles;
